import { useQueryClient } from '@tanstack/react-query'
import { call, routes } from '../../api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { tell } from '../../parts/toast.tsx'
import type { Revision, RevisionTask } from './graph-of-revision.ts'

const over = new Set(['succeeded', 'failed', 'canceled', 'skipped'])

/** The tasks that are asked for again; those of runs by hand have their own pages. */
export function rerunnable(revision: Revision | undefined, only: 'failed' | 'all'): readonly RevisionTask[] {
  return (revision?.tasks ?? []).filter(
    ({ run, state, workflow }) =>
      run === null && workflow !== null && (only === 'failed' ? state === 'failed' : over.has(state)),
  )
}

type RerunProps = {
  readonly name: string
  readonly revision: Revision | undefined
  /** What is asked for; undefined: nothing. */
  readonly only: 'failed' | 'all' | undefined
  readonly onClose: () => void
}

const words = (count: number) => `${count} ${count === 1 ? 'task' : 'tasks'}`

/** Asks before tasks of a revision are run again, and names them. */
export function Rerun({ name, revision, only, onClose }: RerunProps) {
  const queries = useQueryClient()
  const tasks = only === undefined ? [] : rerunnable(revision, only)
  const rev = String(revision?.number ?? '')
  const confirm = async () => {
    if (only === undefined) return
    const again = await call(routes.runs.rerun, { params: { name, rev }, body: { only } })
    tell(`${words(again.tasks.length)} of r${rev} will run again.`)
    await queries.invalidateQueries({ queryKey: [routes.archives.revision.name] })
  }
  return (
    <Confirm
      isOpen={only !== undefined}
      onClose={onClose}
      title={`Rerun ${words(tasks.length)} of r${rev}?`}
      objects={tasks.map(({ key }) => key)}
      action={`Rerun ${words(tasks.length)}`}
      onConfirm={confirm}
    >
      <p>
        {only === 'failed'
          ? 'What failed runs again, and with it what was skipped because of that.'
          : 'Everything of this revision that has ended runs again, in the same order.'}{' '}
        Later revisions are not run again.
      </p>
    </Confirm>
  )
}
