import type { BodyAnswered, routes } from '../api.ts'
import { Link } from './link.tsx'

type Task = BodyAnswered<typeof routes.tasks.list>['items'][number]

/** A task by its key where it has one, else by its number. */
export function TaskLink({ task }: { readonly task: Pick<Task, 'id' | 'key' | 'scope'> }) {
  return (
    <Link to="/tasks/$id" params={{ id: task.id }} className="mono name">
      {task.key === null ? `${task.scope} ${task.id}` : task.key}
    </Link>
  )
}
