import { type BodyAnswered, routes, useCall } from '../api.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'

type Token = BodyAnswered<typeof routes.tokens.list>['items'][number]

const columns: readonly Column<Token>[] = [
  { id: 'name', head: 'Token', isWide: true, cell: ({ name }) => <span className="name">{name}</span> },
  { id: 'role', head: 'Role', cell: ({ role, limit }) => role ?? `${limit?.to} ${limit?.name}` },
  { id: 'used', head: 'Last used', align: 'end', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
]

export function Tokens() {
  const list = useCall(routes.tokens.list)
  return (
    <Panel title="Tokens" isFlush>
      <Loaded
        query={list}
        isEmpty={({ items }) => items.length === 0}
        empty={<EmptyState title="There are no tokens" command="millrace token create ci --role submitter" />}
      >
        {({ items }) => <Table label="Tokens" columns={columns} rows={items} rowKey={({ id }) => id} />}
      </Loaded>
    </Panel>
  )
}
