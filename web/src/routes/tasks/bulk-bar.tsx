import { useState } from 'react'
import { type BodyAnswered, call, routes, useRefusal } from '../../api.ts'
import { formatCount } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { tell } from '../../parts/toast.tsx'
import { routesOf, type TaskAction, taskActions } from '../../tasks/task-actions.ts'
import { nameOfTask } from '../../tasks/task-name.ts'
import type { TaskRow } from './task-changes.ts'

type BulkBarProps = {
  readonly q: string
  readonly rows: readonly TaskRow[]
  readonly chosen: ReadonlySet<string>
  readonly onChosen: (chosen: ReadonlySet<string>) => void
  readonly hasMore: boolean
}

type Bulk = BodyAnswered<typeof routes.tasks.retryMany>
/** What would happen: by request, since a filter names so many tasks at most. */
type DryRun = { readonly action: TaskAction; readonly parts: readonly { readonly q: string; readonly would: Bulk }[] }

/** A filter of one request names so many tasks by number: it has 50 parts and 1000 characters at most. */
const IDS = 40

/** What can be done to the tasks that are selected, or to all that the filter finds, after a look at what it would do. */
export function BulkBar({ q, rows, chosen, onChosen, hasMore }: BulkBarProps) {
  const [isAll, setAll] = useState(false)
  const [dryRun, setDryRun] = useState<DryRun>()
  const [busy, setBusy] = useState<string>()
  const role = useRefusal(routes.tasks.retryMany)
  const picked = rows.filter(({ id }) => chosen.has(id))
  const isAllShown = picked.length > 0 && picked.length === rows.length
  const matching = isAll && isAllShown
  if (chosen.size === 0) return null
  const look = async (action: TaskAction) => {
    setBusy(action.verb)
    try {
      const ids = picked.filter(({ state }) => action.from.includes(state)).map(({ id }) => id)
      const filters = matching ? [q] : chunks(ids, IDS).map((part) => part.map((id) => `id:${id}`).join(' '))
      const parts: DryRun['parts'][number][] = []
      for (const one of filters) parts.push({ q: one, would: await ask(action, { q: one, isDry: true, count: 0 }) })
      setDryRun({ action, parts })
    } catch (error) {
      tell((error as Error).message, { isError: true })
    } finally {
      setBusy(undefined)
    }
  }
  return (
    <section className="bulk" aria-label="Selected tasks">
      <strong>{matching ? 'All that match' : `${formatCount(picked.length)} selected`}</strong>
      {isAllShown && hasMore && (
        <Button kind="quiet" onClick={() => setAll(!isAll)}>
          {isAll ? 'Only those shown' : 'Select all that match'}
        </Button>
      )}
      {taskActions.map((action) => {
        const count = picked.filter(({ state }) => action.from.includes(state)).length
        const none = count === 0 && !matching ? action.rule : undefined
        if (none !== undefined) return null
        return (
          <Button
            key={action.verb}
            kind={action.verb === 'cancel' ? 'danger' : 'plain'}
            refusal={role}
            isBusy={busy === action.verb}
            onClick={() => void look(action)}
          >
            {action.label} {matching ? '…' : formatCount(count)}
          </Button>
        )
      })}
      <Button kind="quiet" onClick={() => onChosen(new Set())}>
        Select nothing
      </Button>
      {dryRun !== undefined && (
        <Ask dryRun={dryRun} onClose={() => setDryRun(undefined)} onDone={() => onChosen(new Set())} />
      )}
    </section>
  )
}

function ask({ verb }: TaskAction, { q, isDry, count }: { q: string; isDry: boolean; count: number }): Promise<Bulk> {
  return call(routesOf(verb).many, { query: { dry_run: isDry ? '1' : '0' }, body: { q, expected_count: count } })
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))
}

type AskProps = { readonly dryRun: DryRun; readonly onClose: () => void; readonly onDone: () => void }

/** What was found is done, and nothing else: when it is another number by then, the server refuses. */
function Ask({ dryRun: { action, parts }, onClose, onDone }: AskProps) {
  const count = parts.reduce((sum, { would }) => sum + would.count, 0)
  const verb = `${action.label} ${formatCount(count)}`
  const act = async () => {
    let acted = 0
    let refused = 0
    for (const { q, would } of parts) {
      const done = await ask(action, { q, isDry: false, count: would.count })
      acted += done.acted
      refused += done.refused_count
    }
    tell(
      `${formatCount(acted)} ${acted === 1 ? 'task' : 'tasks'}: ${action.done}${refused > 0 ? `; ${refused} had another state by then` : ''}`,
      { isError: refused > 0 },
    )
    onDone()
  }
  // Those beyond the first hundred of each request are only counted.
  const names = parts.flatMap(({ would }) => would.items.map(nameOfTask))
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={count === 0 ? 'There is nothing to do' : `${verb} ${count === 1 ? 'task' : 'tasks'}?`}
      objects={[...names, ...Array.from({ length: count - names.length }, (_, i) => `… ${i}`)]}
      action={action.label === 'Cancel' ? `${verb} tasks` : verb}
      onConfirm={act}
    >
      <p>{count === 0 ? `No task is in a state that allows it. ${action.rule}` : action.effect}</p>
    </Confirm>
  )
}
