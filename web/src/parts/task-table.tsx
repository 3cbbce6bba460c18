import type { BodyAnswered, routes } from '../api.ts'
import { Link } from './link.tsx'
import { StateBadge, taskLooks } from './state-badge.tsx'
import { type Column, Table } from './table.tsx'
import { Duration, RelativeTime } from './time.tsx'

type Task = BodyAnswered<typeof routes.tasks.list>['items'][number]

const columns: readonly Column<Task>[] = [
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={taskLooks[state]} /> },
  { id: 'task', head: 'Task', isWide: true, cell: (task) => <TaskLink task={task} /> },
  { id: 'kind', head: 'Kind', isMinor: true, cell: ({ kind }) => kind ?? <span className="muted">milestone</span> },
  { id: 'queue', head: 'Queue', isMinor: true, cell: ({ queue }) => queue ?? '' },
  {
    id: 'took',
    head: 'Took',
    align: 'end',
    isMinor: true,
    cell: ({ started_at, finished_at }) => <Duration from={started_at} to={finished_at} />,
  },
  { id: 'added', head: 'Added', align: 'end', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]

/** A task by its key where it has one, else by its number. */
export function TaskLink({ task }: { readonly task: Pick<Task, 'id' | 'key' | 'scope'> }) {
  return (
    <Link to="/tasks/$id" params={{ id: task.id }} className="mono name">
      {task.key === null ? `${task.scope} ${task.id}` : task.key}
    </Link>
  )
}

export function TaskTable({ label, tasks }: { readonly label: string; readonly tasks: readonly Task[] }) {
  return <Table label={label} columns={columns} rows={tasks} rowKey={({ id }) => id} />
}
