import { type BodyAnswered, call, routes } from '../../api.ts'
import { FormDialog, fieldOf, TextField } from '../../parts/form.tsx'
import { tell } from '../../parts/toast.tsx'
import { nameOfTask } from '../../tasks/task-name.ts'

type Task = BodyAnswered<typeof routes.tasks.get>

const STARTED = 'Only what has not started can be moved in its queue.'

/** Why a task cannot be moved in its queue; undefined when it can. */
export const refusalToMove = ({ state }: Task): string | undefined =>
  ['waiting', 'delayed', 'ready', 'held'].includes(state) ? undefined : `It is ${state}. ${STARTED}`

/** Gives a task another place in its queue. */
export function PriorityDialog({
  task,
  onClose,
  onDone,
}: {
  readonly task: Task
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}) {
  const move = async (given: FormData) => {
    const priority = Number(fieldOf(given, 'priority'))
    await call(routes.tasks.prioritize, { params: { id: task.id }, body: { priority } })
    tell(`${nameOfTask(task)} has priority ${priority}`)
    await onDone()
  }
  return (
    <FormDialog isOpen onClose={onClose} title="Another priority" action="Set priority" onSubmit={move}>
      <TextField
        label="Priority"
        name="priority"
        type="number"
        step={1}
        required
        defaultValue={task.priority}
        hint="Lower comes first; among equals, what was added earlier."
      />
    </FormDialog>
  )
}
