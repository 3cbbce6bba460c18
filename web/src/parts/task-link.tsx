import type { BodyAnswered, routes } from '../api.ts'
import { listedName, nameInArchive } from '../tasks/task-name.ts'
import { Link } from './link.tsx'

type Task = BodyAnswered<typeof routes.tasks.list>['items'][number]

type TaskLinkProps = {
  readonly task: Pick<Task, 'id' | 'key' | 'scope'>
  /** All around it is of one archive, which need not be named again. */
  readonly isInArchive?: boolean
}

/** A task by the name that the lists of tasks give it. */
export function TaskLink({ task, isInArchive = false }: TaskLinkProps) {
  const name = isInArchive ? nameInArchive(task) : listedName(task)
  return (
    <Link to="/tasks/$id" params={{ id: task.id }} className="mono name" title={name}>
      {name}
    </Link>
  )
}
