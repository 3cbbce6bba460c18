import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'

type Worker = BodyAnswered<typeof routes.workers.list>['items'][number]

const columns: readonly Column<Worker>[] = [
  { id: 'name', head: 'Worker', isWide: true, cell: ({ name }) => <span className="mono name">{name}</span> },
  { id: 'host', head: 'Host', isMinor: true, cell: ({ host }) => host ?? '' },
  { id: 'running', head: 'Running', align: 'end', cell: ({ running }) => running },
  { id: 'queues', head: 'Queues', cell: ({ queues }) => queues.join(', ') },
  { id: 'seen', head: 'Last seen', align: 'end', cell: ({ last_seen_at }) => <RelativeTime at={last_seen_at} /> },
]

/** Who performs tasks. */
export function Workers() {
  const list = useCall(routes.workers.list)
  useFresh(['*'], ['workers.list'])
  return (
    <Page title="Workers">
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState title="Nobody performs tasks" command="millrace worker">
              A server performs tasks itself; more workers share its database.
            </EmptyState>
          }
        >
          {({ items }) => <Table label="Workers" columns={columns} rows={items} rowKey={({ id }) => String(id)} />}
        </Loaded>
      </Panel>
    </Page>
  )
}
