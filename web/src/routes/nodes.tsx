import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { nodeLooks, StateBadge } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'

type List = BodyAnswered<typeof routes.nodes.list>
type Node = Extract<List, readonly unknown[]>[number]

const columns: readonly Column<Node>[] = [
  { id: 'state', head: 'State', cell: ({ state }) => state && <StateBadge look={nodeLooks[state]} /> },
  {
    id: 'id',
    head: 'Node',
    isWide: true,
    cell: ({ id, task }) =>
      task === undefined ? (
        id
      ) : (
        <Link to="/tasks/$id" params={{ id: task }} className="mono">
          {id}
        </Link>
      ),
  },
  { id: 'type', head: 'Type', cell: ({ type }) => type },
  { id: 'added', head: 'Added', align: 'end', cell: ({ created_at = null }) => <RelativeTime at={created_at} /> },
]

/** Trees of commands, from their roots. */
export function Nodes() {
  const metadata = 'type,parent,state,created_at,task'
  const list = useCall(routes.nodes.list, { query: { parent: 'root', metadata, limit: 200 } })
  useFresh(['node'], ['nodes.list'])
  return (
    <Page title="Trees" summary="Commands that were sent, and what follows each of them.">
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={(data) => rowsOf(data).length === 0}
          empty={
            <EmptyState title="No tree was sent" command="millrace node add -- make all">
              A node is a command; its children run when it has ended.
            </EmptyState>
          }
        >
          {(data) => <Table label="Roots" columns={columns} rows={rowsOf(data)} rowKey={({ id }) => id} />}
        </Loaded>
      </Panel>
    </Page>
  )
}

const rowsOf = (list: List): readonly Node[] => ('nodes' in list ? list.nodes : list)
