import { Button } from '../parts/button.tsx'
import { Panel } from '../parts/panel.tsx'
import { chooseTheme, themes, useTheme } from '../theme.ts'

/** What each person chooses for this browser. */
export function Appearance() {
  const theme = useTheme()
  return (
    <Panel title="Theme">
      <div className="row">
        {themes.map((one) => (
          <Button
            key={one}
            kind={one === theme ? 'primary' : 'plain'}
            aria-pressed={one === theme}
            onClick={() => chooseTheme(one)}
          >
            {one}
          </Button>
        ))}
      </div>
    </Panel>
  )
}
