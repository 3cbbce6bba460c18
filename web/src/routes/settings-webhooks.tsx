import { type BodyAnswered, routes, useCall } from '../api.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'

type Webhook = BodyAnswered<typeof routes.webhooks.list>['items'][number]

const columns: readonly Column<Webhook>[] = [
  { id: 'description', head: 'Webhook', cell: ({ description }) => description },
  { id: 'url', head: 'Receiver', isWide: true, cell: ({ url }) => <span className="mono name">{url}</span> },
]

export function Webhooks() {
  const list = useCall(routes.webhooks.list)
  return (
    <Panel title="Webhooks" isFlush>
      <Loaded
        query={list}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <EmptyState title="Nobody is told of events">A webhook sends what happens to another program.</EmptyState>
        }
      >
        {({ items }) => <Table label="Webhooks" columns={columns} rows={items} rowKey={({ id }) => id} />}
      </Loaded>
    </Panel>
  )
}
