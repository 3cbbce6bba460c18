import { type BodyAnswered, routes, useCall } from '../api.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'

type Secret = BodyAnswered<typeof routes.secrets.list>['items'][number]

const columns: readonly Column<Secret>[] = [
  { id: 'name', head: 'Secret', isWide: true, cell: ({ name }) => <span className="mono name">{name}</span> },
]

export function Secrets() {
  const list = useCall(routes.secrets.list)
  return (
    <Panel title="Secrets" isFlush>
      <Loaded
        query={list}
        isEmpty={({ items }) => items.length === 0}
        empty={<EmptyState title="There are no secrets" command="millrace secret set SIGNING_KEY" />}
      >
        {({ items }) => <Table label="Secrets" columns={columns} rows={items} rowKey={({ name }) => name} />}
      </Loaded>
    </Panel>
  )
}
