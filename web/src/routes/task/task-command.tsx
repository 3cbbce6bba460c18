import { type BodyAnswered, routes, useCall } from '../../api.ts'
import { homeOf } from '../../tasks/task-name.ts'
import { commandOf } from './command-of.ts'

type Task = BodyAnswered<typeof routes.tasks.get>

/** What the task runs, in one line: a command, the first line of a script, or nothing when it has none. */
export function TaskCommand({ task }: { readonly task: Task }) {
  const home = homeOf(task)
  return home.is === 'node' ? <CommandOfNode id={home.node} /> : <Command of={task.payload} />
}

function CommandOfNode({ id }: { readonly id: string }) {
  const { data } = useCall(routes.nodes.get, { params: { id } })
  return <Command of={data?.data} />
}

function Command({ of }: { readonly of: unknown }) {
  const command = commandOf(of)
  if (command === undefined) return null
  return (
    <code className="task-command" title={command}>
      {command}
    </code>
  )
}
