import { useQueryClient } from '@tanstack/react-query'
import { MoreHorizontal } from 'lucide-react'
import { useRef, useState } from 'react'
import { type BodyAnswered, call, routes, useRefusal } from '../../api.ts'
import { useKeys } from '../../keys.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Menu } from '../../parts/menu.tsx'
import { tell } from '../../parts/toast.tsx'
import { refusalOf, routesOf, type TaskAction, taskActions } from '../../tasks/task-actions.ts'
import { nameOfTask } from '../../tasks/task-name.ts'
import { PriorityDialog, refusalToMove } from './priority-dialog.tsx'

type Task = BodyAnswered<typeof routes.tasks.get>

/** What can be done to the task: what its state calls for as buttons, everything in the menu, and by key. */
export function TaskActions({ task, onLog }: { readonly task: Task; readonly onLog: () => void }) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<TaskAction>()
  const [isMoving, setMoving] = useState(false)
  const menu = useRef<HTMLSpanElement>(null)
  const role = useRefusal(routes.tasks.retry)
  const name = nameOfTask(task)
  const act = async ({ verb, done }: TaskAction) => {
    await call(routesOf(verb).one, { params: { id: task.id } })
    tell(`${name} ${done}`)
    await refresh()
  }
  const refresh = async () => {
    const names: readonly unknown[] = [routes.tasks.get.name, routes.tasks.events.name]
    await queries.invalidateQueries({ predicate: ({ queryKey }) => names.includes(queryKey[0]) })
  }
  const priority = { label: 'Priority …', run: () => setMoving(true), refusal: role ?? refusalToMove(task) }
  const begin = (action: TaskAction) => {
    if (!action.isMild) return setAsked(action)
    act(action).catch((error: Error) => tell(`${name}: ${error.message}`, { isError: true }))
  }
  const actions = taskActions.map((action) => ({
    action,
    refusal: role ?? refusalOf(action, task.state),
    isFitting: refusalOf(action, task.state) === undefined,
  }))
  useKeys(
    [
      ...actions.map(({ action, refusal }) => ({
        ...(action.key === undefined ? {} : { key: action.key }),
        label: `${action.label} ${name}`,
        run: () => begin(action),
        refusal,
      })),
      { ...priority, label: `Another priority for ${name}` },
      { key: 'l', label: 'Show the log', run: onLog },
      { key: '.', label: 'Actions', run: () => menu.current?.querySelector('button')?.click(), isMove: true },
    ],
    'Task',
  )
  const fitting = actions.filter(
    ({ action, isFitting }) => isFitting && action.verb !== 'skip' && action.verb !== 'hold',
  )
  return (
    <>
      {fitting.map(({ action, refusal }) => (
        <Button
          key={action.verb}
          kind={action.verb === 'cancel' ? 'danger' : 'primary'}
          refusal={refusal}
          onClick={() => begin(action)}
          aria-keyshortcuts={action.key}
        >
          {action.label}
        </Button>
      ))}
      <span ref={menu}>
        <Menu
          label="Actions"
          icon={MoreHorizontal}
          actions={[
            ...actions.map(({ action, refusal }) => ({
              id: action.verb,
              label: action.label,
              refusal,
              onAction: () => begin(action),
            })),
            { id: 'prioritize', label: priority.label, refusal: priority.refusal, onAction: priority.run },
          ]}
        />
      </span>
      {isMoving && <PriorityDialog task={task} onClose={() => setMoving(false)} onDone={refresh} />}
      {asked !== undefined && (
        <Confirm
          isOpen
          onClose={() => setAsked(undefined)}
          title={`${asked.label} this task?`}
          objects={[name]}
          action={asked.label === 'Cancel' ? 'Cancel the task' : asked.label}
          onConfirm={() => act(asked)}
        >
          <p>{asked.effect}</p>
        </Confirm>
      )}
    </>
  )
}
