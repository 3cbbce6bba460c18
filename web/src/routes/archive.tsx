import { getRouteApi } from '@tanstack/react-router'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { revisionLooks, StateBadge } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'

type Revision = BodyAnswered<typeof routes.archives.revisions>['items'][number]

const page = getRouteApi('/shell/archives/$name')

const columns = (name: string): readonly Column<Revision>[] => [
  {
    id: 'number',
    head: 'Revision',
    cell: ({ number }) => (
      <Link to="/archives/$name/r/$rev" params={{ name, rev: String(number) }} className="mono">
        r{number}
      </Link>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={revisionLooks[state]} /> },
  { id: 'message', head: 'Message', isWide: true, cell: ({ message }) => message.split('\n')[0] },
  { id: 'author', head: 'Author', isMinor: true, cell: ({ author }) => author ?? '' },
  { id: 'date', head: 'Committed', align: 'end', isMinor: true, cell: ({ date }) => <RelativeTime at={date} /> },
]

/** An archive: its revisions, the youngest first. */
export function Archive() {
  const { name } = page.useParams()
  const revisions = useCall(routes.archives.revisions, { params: { name } })
  useFresh([`archive:${name}`], ['archives.revisions'])
  return (
    <Page
      title={name}
      crumbs={<Link to="/archives">Archives</Link>}
      actions={
        <Link to="/archives/$name/definitions" params={{ name }} className="button button-plain">
          Definitions
        </Link>
      }
    >
      <Panel title="Revisions" isFlush>
        <Loaded
          query={revisions}
          isEmpty={({ items }) => items.length === 0}
          empty={<EmptyState title="No revision was planned yet">The next commit will be the first.</EmptyState>}
        >
          {({ items }) => (
            <Table label="Revisions" columns={columns(name)} rows={items} rowKey={({ number }) => String(number)} />
          )}
        </Loaded>
      </Panel>
    </Page>
  )
}
