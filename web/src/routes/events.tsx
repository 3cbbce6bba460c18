import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../parts/page.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Audit } from './events/audit.tsx'
import { Happened } from './events/happened.tsx'
import './events/events.css'

const page = getRouteApi('/shell/events')

/** What happened, and who did what. */
export function Events() {
  const { tab } = page.useSearch()
  const navigate = page.useNavigate()
  return (
    <Page title="Events" summary="Every change of every task, and every action of people and programs.">
      <Tabs
        label="Kinds of events"
        open={tab === 'audit' ? 'audit' : 'happened'}
        onOpen={(id) => void navigate({ search: id === 'audit' ? { tab: 'audit' } : {} })}
        items={[
          { id: 'happened', label: 'What happened', content: <Happened /> },
          { id: 'audit', label: 'Who did what', content: <Audit /> },
        ]}
      />
    </Page>
  )
}
