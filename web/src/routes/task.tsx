import { getRouteApi } from '@tanstack/react-router'
import { type BodyAnswered, routes, textOf, useCall } from '../api.ts'
import { readJson } from '../json.ts'
import { useFresh } from '../live.ts'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, taskLooks } from '../parts/state-badge.tsx'
import { Duration, RelativeTime } from '../parts/time.tsx'

type Task = BodyAnswered<typeof routes.tasks.get>

const page = getRouteApi('/shell/tasks/$id')

export function TaskScreen() {
  const { id } = page.useParams()
  return <TaskPage id={id} />
}

/** One task of whichever part, by its number or natural key. */
export function TaskPage({ id }: { readonly id: string }) {
  const task = useCall(routes.tasks.get, { params: { id } })
  useFresh(task.data === undefined ? [] : [task.data.scope], ['tasks.get'])
  return (
    <Page
      title={task.data?.key ?? `Task ${id}`}
      heading={<span className="mono">{task.data?.key ?? id}</span>}
      crumbs={<Link to="/tasks">Tasks</Link>}
      actions={
        <Link to="/tasks/$id/log" params={{ id }} className="button button-plain">
          Log
        </Link>
      }
    >
      <Loaded query={task}>{(found) => <Content task={found} />}</Loaded>
    </Page>
  )
}

function Content({ task }: { readonly task: Task }) {
  return (
    <div className="stack">
      <Panel title="Why">
        <p>{task.why}</p>
      </Panel>
      <Panel title="Task">
        <Facts
          of={{
            State: <StateBadge look={taskLooks[task.state]} />,
            Number: <code>{task.id}</code>,
            Scope: task.scope,
            Kind: task.kind ?? 'milestone',
            Added: <RelativeTime at={task.created_at} />,
            Took: <Duration from={task.started_at} to={task.finished_at} />,
          }}
        />
      </Panel>
      <Panel title="As JSON">
        <JsonView json={readJson(textOf(task))} label="task" />
      </Panel>
    </div>
  )
}
