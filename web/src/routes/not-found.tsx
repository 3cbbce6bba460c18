import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'

export function NotFound() {
  return (
    <Page title="There is no such page">
      <Panel>
        <p>
          The address may be mistyped, or what it named is gone. <Link to="/">Go to the overview</Link>
        </p>
      </Panel>
    </Page>
  )
}
