// A plan as the engine takes it: tasks with payloads, and edges to tasks instead of keys.
import { type AddItem, type AnyWorker, defineWorker } from '../engine/index.ts'
import { COMMANDS_AT_ONCE, limitOf, scopeOf } from './archive.ts'
import type { Plan, PlannedTask } from './definition/plan.ts'
import type { ArchiveHistory } from './history.ts'
import {
  archiveIndexKind,
  archiveIndexSchema,
  archiveTaskKind,
  archiveTaskSchema,
  type RevisionRef,
  type Trigger,
} from './payload.ts'

/** Those who perform tasks may be elsewhere; to add one, its kind and the shape of its payload are enough. */
const shapeOf = (kind: string, payload: AnyWorker['payload']): AnyWorker =>
  defineWorker({
    kind,
    payload,
    work() {
      throw new Error(`tasks of kind ${kind} are added here and performed elsewhere`)
    },
  })

const archiveTask = shapeOf(archiveTaskKind, archiveTaskSchema)
const archiveIndex = shapeOf(archiveIndexKind, archiveIndexSchema)

export type At = {
  readonly rev: RevisionRef
  readonly previous: RevisionRef | null
  readonly depth: number
  readonly trigger: Trigger
  readonly commandsAtOnce?: number | undefined
}

/** The milestone of the commit first, if the plan has one, then its tasks in their order. */
export function toItems(plan: Plan, at: At, history: ArchiveHistory): AddItem[] {
  const scope = scopeOf(plan.archive)
  const own = (key: string) => key.slice(plan.archive.length + 1)
  const edges = ({ requires }: Pick<PlannedTask, 'requires'>) =>
    requires.map(({ key, when }) => ({ ...history.refOf(key), when }))
  const { commit } = plan
  const max = at.commandsAtOnce ?? COMMANDS_AT_ONCE
  const milestone: AddItem[] =
    commit === undefined ? [] : [{ milestone: true, scope, key: own(commit.key), requires: edges(commit) }]
  return [
    ...milestone,
    ...plan.tasks.map((task): AddItem => {
      const cancels = task.cancels.map((key) => ({ ...history.refOf(key), isChain: history.isChain(task.name, key) }))
      return {
        ...toWork(plan.archive, task, at),
        scope,
        key: own(task.key),
        queue: task.queue,
        requires: edges(task),
        ...(cancels.length > 0 ? { cancels } : {}),
        ...(task.locks.length > 0 ? { locks: task.locks } : {}),
        // The index is short work, and waits for no command.
        ...(task.run.type === 'uses' ? {} : { limit: { group: limitOf(plan.archive, task.queue), max } }),
      }
    }),
  ]
}

function toWork(archive: string, task: PlannedTask, { rev, previous, depth, trigger }: At) {
  const { name, workflow, run, image, env, secrets, artifacts, timeoutSeconds, retries } = task
  if (run.type === 'uses') {
    // What is built in knows best how often to try; a number in the file is a wish for more.
    const attempts = retries > 0 ? { maxAttempts: Math.max(retries + 1, 20) } : {}
    return { worker: archiveIndex, payload: { archive, rev }, ...attempts }
  }
  return {
    worker: archiveTask,
    maxAttempts: retries + 1,
    payload: {
      archive,
      rev,
      previous,
      name,
      workflow,
      run,
      image,
      env,
      secrets,
      artifacts,
      timeoutSeconds,
      trigger,
      depth,
    },
  }
}
