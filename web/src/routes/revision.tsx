import { getRouteApi } from '@tanstack/react-router'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { Facts } from '../parts/facts.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { lookOf, revisionLooks, StateBadge, taskLooks } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Duration, RelativeTime } from '../parts/time.tsx'

type Found = BodyAnswered<typeof routes.archives.revision>
type RevisionTask = Found['tasks'][number]

const page = getRouteApi('/shell/archives/$name/r/$rev')

const columns = (name: string, rev: string): readonly Column<RevisionTask>[] => [
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={lookOf(taskLooks, state)} /> },
  {
    id: 'name',
    head: 'Task',
    isWide: true,
    cell: (task) => (
      <Link
        to="/archives/$name/r/$rev/$task"
        params={{ name, rev, task: task.run === null ? task.name : `${task.name}#${task.run}` }}
        className="mono name"
      >
        {task.name}
      </Link>
    ),
  },
  { id: 'workflow', head: 'Workflow', isMinor: true, cell: ({ workflow }) => workflow ?? '' },
  {
    id: 'took',
    head: 'Took',
    align: 'end',
    cell: ({ started_at, finished_at }) => <Duration from={started_at} to={finished_at} />,
  },
]

/** One revision: what was committed, and what came of it. */
export function Revision() {
  const { name, rev } = page.useParams()
  const revision = useCall(routes.archives.revision, { params: { name, rev: Number(rev) } })
  useFresh([`archive:${name}`], ['archives.revision'])
  return (
    <Page
      title={`r${rev} of ${name}`}
      heading={`r${rev}`}
      crumbs={
        <>
          <Link to="/archives">Archives</Link>
          <Link to="/archives/$name" params={{ name }} className="name">
            {name}
          </Link>
        </>
      }
    >
      <Loaded query={revision}>{(found) => <Content name={name} rev={rev} found={found} />}</Loaded>
    </Page>
  )
}

function Content({ name, rev, found }: { readonly name: string; readonly rev: string; readonly found: Found }) {
  return (
    <div className="stack">
      <Panel title="Commit">
        <Facts
          of={{
            State: <StateBadge look={revisionLooks[found.state]} />,
            Message: found.message,
            Author: found.author ?? 'nobody',
            Committed: <RelativeTime at={found.date} />,
            Planned: <RelativeTime at={found.planned_at} />,
          }}
        />
      </Panel>
      <Panel title="Tasks" isFlush>
        <Table label="Tasks" columns={columns(name, rev)} rows={found.tasks} rowKey={({ id }) => id} />
      </Panel>
    </div>
  )
}
