import { getRouteApi } from '@tanstack/react-router'
import { routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { changed, type LogChoicePatch } from '../log/choice.ts'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, taskLooks } from '../parts/state-badge.tsx'
import { nameOfTask } from '../tasks/task-name.ts'
import { LogViewer } from './log/log-viewer.tsx'
import { PlainLog } from './log/plain-log.tsx'

const page = getRouteApi('/shell/tasks/$id/log')

/** The output of a task on a page of its own, or as plain text. */
export function TaskLog() {
  const { id } = page.useParams()
  const { view, from, ...choice } = page.useSearch()
  const navigate = page.useNavigate()
  const task = useCall(routes.tasks.get, { params: { id } })
  useFresh(task.data === undefined ? [] : [task.data.scope], ['tasks.get'])
  const choose = (patch: LogChoicePatch) =>
    void navigate({ search: (before) => changed(before, patch), hash: true, replace: true, resetScroll: false })
  const name = task.data === undefined ? id : nameOfTask(task.data)
  const isPlain = view === 'plain'
  return (
    <Page
      title={`Log of ${name}`}
      heading={
        <>
          Log of <span className="mono">{name}</span>
        </>
      }
      crumbs={
        <>
          <Link to="/tasks">Tasks</Link>
          <Link to="/tasks/$id" params={{ id }} className="name">
            {name}
          </Link>
        </>
      }
      actions={task.data && <StateBadge look={taskLooks[task.data.state]} />}
    >
      <Panel isFlush={!isPlain}>
        <Loaded query={task}>
          {(found) =>
            isPlain ? (
              <PlainLog id={found.id} choice={choice} from={Number(from) || 1} />
            ) : (
              <LogViewer task={found} choice={choice} onChoose={choose} isPage />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
}
