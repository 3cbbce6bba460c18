import { chooseLetterKeys, useLetterKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Panel } from '../parts/panel.tsx'
import { themeWords, zoneWords } from '../shell/preferences.tsx'
import { chooseTheme, themes, useTheme } from '../theme.ts'
import { chooseZone, useZone, zoneNames, zones } from '../zone.ts'

/** What each person chooses for this browser. */
export function Appearance() {
  const theme = useTheme()
  const zone = useZone()
  const hasLetters = useLetterKeys()
  return (
    <>
      <Panel title="Theme">
        <div className="row">
          {themes.map((one) => (
            <Choice key={one} label={themeWords[one]} isChosen={one === theme} onChoose={() => chooseTheme(one)} />
          ))}
        </div>
      </Panel>
      <Panel title="Times">
        <div className="row">
          {zones.map((one) => (
            <Choice
              key={one}
              label={one === 'utc' ? zoneWords.utc : `${zoneWords[one]} (${zoneNames[one]})`}
              isChosen={one === zone}
              onChoose={() => chooseZone(one)}
            />
          ))}
        </div>
      </Panel>
      <Panel title="Keys">
        <label className="row">
          <input type="checkbox" checked={hasLetters} onChange={({ target }) => chooseLetterKeys(target.checked)} />
          Keys of a single character, such as g and ?
        </label>
      </Panel>
    </>
  )
}

function Choice({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <Button kind={isChosen ? 'primary' : 'plain'} aria-pressed={isChosen} onClick={onChoose}>
      {label}
    </Button>
  )
}
