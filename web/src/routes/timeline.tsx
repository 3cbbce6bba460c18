import { getRouteApi } from '@tanstack/react-router'
import { routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { TaskTable } from '../parts/task-table.tsx'

const page = getRouteApi('/shell/timeline')

/** What ran when. */
export function Timeline() {
  const { scope } = page.useSearch()
  const query = { limit: 100, ...(scope === undefined ? {} : { scope }) }
  const list = useCall(routes.tasks.list, { query })
  useFresh([scope ?? '*'], ['tasks.list'])
  return (
    <Page title={scope === undefined ? 'Timeline' : `Timeline of ${scope}`}>
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={({ items }) => items.every(({ started_at }) => started_at === null)}
          empty={<EmptyState title="Nothing has run yet" />}
        >
          {({ items }) => <TaskTable label="What ran" tasks={items.filter(({ started_at }) => started_at !== null)} />}
        </Loaded>
      </Panel>
    </Page>
  )
}
