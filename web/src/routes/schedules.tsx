import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, scheduleLooks } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'

type Schedule = BodyAnswered<typeof routes.schedules.list>['items'][number]

const columns: readonly Column<Schedule>[] = [
  {
    id: 'archive',
    head: 'Archive',
    cell: ({ archive }) => (
      <Link to="/archives/$name" params={{ name: archive }} className="name">
        {archive}
      </Link>
    ),
  },
  { id: 'workflow', head: 'Workflow', isWide: true, cell: ({ workflow }) => workflow },
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={scheduleLooks[state]} /> },
  { id: 'cron', head: 'When', isMinor: true, cell: ({ cron }) => <code>{cron}</code> },
  { id: 'zone', head: 'Zone', isMinor: true, cell: ({ timezone }) => timezone },
  { id: 'next', head: 'Next', align: 'end', cell: ({ next_at }) => <RelativeTime at={next_at} /> },
]

/** What runs by the clock. */
export function Schedules() {
  const list = useCall(routes.schedules.list)
  useFresh(['archive:*'], ['schedules.list'])
  return (
    <Page title="Schedules">
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState title="Nothing runs by the clock">
              A workflow file with <code>on: schedule</code> does.
            </EmptyState>
          }
        >
          {({ items }) => <Table label="Schedules" columns={columns} rows={items} rowKey={({ id }) => id} />}
        </Loaded>
      </Panel>
    </Page>
  )
}
