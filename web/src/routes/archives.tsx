import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { archiveLooks, StateBadge } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'

type Archive = BodyAnswered<typeof routes.archives.list>['items'][number]

const columns: readonly Column<Archive>[] = [
  {
    id: 'name',
    head: 'Archive',
    isWide: true,
    cell: ({ name }) => (
      <Link to="/archives/$name" params={{ name }} className="name">
        {name}
      </Link>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={archiveLooks[state]} /> },
  { id: 'source', head: 'Source', isMinor: true, cell: ({ source }) => source.type },
  { id: 'planned', head: 'Planned', align: 'end', cell: ({ planned }) => `r${planned.number}` },
  { id: 'youngest', head: 'Youngest', align: 'end', isMinor: true, cell: ({ youngest }) => `r${youngest.number}` },
  { id: 'looked', head: 'Looked at', align: 'end', isMinor: true, cell: (one) => <RelativeTime at={one.looked_at} /> },
]

export function Archives() {
  const list = useCall(routes.archives.list)
  useFresh(['archive:*'], ['archives.list'])
  return (
    <Page title="Archives" summary="Repositories that are watched: what is committed there runs here, in order.">
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState
              title="No repository is watched"
              command="millrace archive add My-Project --svn file:///srv/svn/my-project"
            >
              Name one, and each of its commits starts the workflows that lie in it.
            </EmptyState>
          }
        >
          {({ items }) => <Table label="Archives" columns={columns} rows={items} rowKey={({ name }) => name} />}
        </Loaded>
      </Panel>
    </Page>
  )
}
