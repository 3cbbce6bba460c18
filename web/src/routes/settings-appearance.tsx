import { useState } from 'react'
import { clock } from '../clock.ts'
import { formatInstant } from '../format.ts'
import { chooseLetterKeys, useLetterKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/form.tsx'
import { Panel } from '../parts/panel.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { choose, densities, isZone, usePreferences } from '../preferences.ts'
import { chooseTheme, type Theme, themes, useTheme } from '../theme.ts'
import './settings.css'

const themeWords: Readonly<Record<Theme, string>> = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
  contrast: 'High contrast',
}

/** What each person chooses for this browser. */
export function Appearance() {
  const theme = useTheme()
  const { density } = usePreferences()
  const hasLetters = useLetterKeys()
  return (
    <div className="stack">
      <Panel title="Theme">
        <Choices label="Theme" of={themes} chosen={theme} words={(one) => themeWords[one]} onChoose={chooseTheme} />
      </Panel>
      <Panel title="Rows">
        <Choices
          label="Rows"
          of={densities}
          chosen={density}
          words={(one) => (one === 'compact' ? 'Compact' : 'Comfortable')}
          onChoose={(one) => choose({ density: one })}
        />
      </Panel>
      <Panel title="Keys of one letter">
        <div className="settings-choice">
          <p className="settings-note">
            Keys such as <kbd>g</kbd> <kbd>o</kbd> and <kbd>r</kbd> act at once. Who dictates, or types by mistake,
            turns them off;
            <kbd>Ctrl</kbd>+<kbd>K</kbd> still works.
          </p>
          <Choices
            label="Keys of one letter"
            of={['on', 'off'] as const}
            chosen={hasLetters ? 'on' : 'off'}
            words={(one) => (one === 'on' ? 'On' : 'Off')}
            onChoose={(one) => chooseLetterKeys(one === 'on')}
          />
        </div>
      </Panel>
      <Panel title="Time zone">
        <Zone />
      </Panel>
    </div>
  )
}

type ChoicesProps<T extends string> = {
  readonly label: string
  readonly of: readonly T[]
  readonly chosen: T
  readonly words: (one: T) => string
  readonly onChoose: (one: T) => void
}

function Choices<T extends string>({ label, of, chosen, words, onChoose }: ChoicesProps<T>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be drawn as a form
    <div className="row" role="group" aria-label={label}>
      {of.map((one) => (
        <Button
          key={one}
          kind={one === chosen ? 'primary' : 'plain'}
          aria-pressed={one === chosen}
          onClick={() => onChoose(one)}
        >
          {words(one)}
        </Button>
      ))}
    </div>
  )
}

function Zone() {
  const { zone } = usePreferences()
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [text, setText] = useState(zone ?? '')
  const isKnown = text.trim() === '' || isZone(text.trim())
  const change = (given: string) => {
    setText(given)
    const name = given.trim()
    if (name === '' || isZone(name)) choose({ zone: name === '' ? undefined : name })
  }
  return (
    <div className="settings-choices">
      <TextField
        label="Zone"
        list="zones"
        value={text}
        placeholder={own}
        aria-invalid={!isKnown}
        onChange={({ target }) => change(target.value)}
        hint={isKnown ? `Empty: the browser’s, ${own}` : 'This browser knows no zone of that name'}
      />
      <datalist id="zones">
        {Intl.supportedValuesOf('timeZone').map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p className="settings-note">
        Now: {formatInstant(clock.now())} <RelativeTime at={clock.now()} />
      </p>
    </div>
  )
}
