import { clock } from '../clock.ts'
import { chooseDensity, densities, useDensity } from '../density.ts'
import { formatInstant } from '../format.ts'
import { chooseLetterKeys, useLetterKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Panel } from '../parts/panel.tsx'
import { themeWords, zoneWords } from '../shell/preferences.tsx'
import { chooseTheme, themes, useTheme } from '../theme.ts'
import { chooseZone, useZone, zoneNames, zones } from '../zone.ts'
import './settings.css'

/** What each person chooses for this browser. */
export function Appearance() {
  const theme = useTheme()
  const density = useDensity()
  const zone = useZone()
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
          onChoose={chooseDensity}
        />
      </Panel>
      <Panel title="Keys of one letter">
        <div className="settings-choice">
          <p className="settings-note">
            Keys such as <kbd>g</kbd> <kbd>o</kbd> and <kbd>r</kbd> act at once. Who dictates, or types by mistake,
            turns them off; <kbd>Ctrl</kbd>+<kbd>K</kbd> still works.
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
        <Choices
          label="Time zone"
          of={zones}
          chosen={zone}
          words={(one) => (one === 'utc' ? zoneWords.utc : `${zoneWords[one]} (${zoneNames[one]})`)}
          onChoose={chooseZone}
        />
        <p className="settings-note">Now: {formatInstant(clock.now())}</p>
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
