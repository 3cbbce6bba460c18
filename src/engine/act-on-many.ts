import { CountDiffers, StateRefused, TaskNotFound, TooManyTasks } from './errors.ts'
import type { TaskFilter, TaskSummary } from './list.ts'
import type { Millrace } from './millrace.ts'
import type { TaskState } from './task.ts'

/** What can be done to many tasks, and the states that it makes sense in. */
export const statesOfVerb = {
  retry: ['failed', 'canceled', 'skipped'],
  rerun: ['succeeded'],
  cancel: ['waiting', 'delayed', 'ready', 'running', 'held'],
  hold: ['waiting', 'delayed', 'ready'],
  release: ['held'],
  skip: ['waiting', 'delayed', 'ready', 'held'],
} as const satisfies Record<string, readonly TaskState[]>

export type BulkVerb = keyof typeof statesOfVerb

export type BulkOptions = {
  readonly filter: TaskFilter
  /** How many the caller believes there are; with another number nothing is done. */
  readonly expectedCount: number
  /** Nothing is done in any case. */
  readonly isDryRun: boolean
  readonly actor: string
  readonly cause?: string | undefined
}

export type BulkResult = {
  /** How many tasks the search found in a state that allows it. */
  readonly count: number
  /** The first of them. */
  readonly tasks: readonly TaskSummary[]
  readonly acted: number
  /** Those whose state was another by the time, or that were gone: the first hundred. */
  readonly refused: readonly { readonly id: string; readonly message: string }[]
  readonly refusedCount: number
}

const MOST = 10_000
const PAGE = 500
const AT_ONCE = 100
const SHOWN = 100
const SEARCH_MS = 5_000

/**
 * Does the same to all tasks that a search finds, when they are as many as the caller believes. Each is done or refused by
 * itself: others change tasks meanwhile, and retrying one may revive the next. Throws `CountDiffers` and `TooManyTasks`.
 */
export async function actOnMany(millrace: Millrace, verb: BulkVerb, options: BulkOptions): Promise<BulkResult> {
  const { filter, expectedCount, isDryRun, actor, cause } = options
  const found = await findAll(millrace, filter, statesOfVerb[verb])
  const result = { count: found.length, tasks: found.slice(0, SHOWN) }
  if (isDryRun) return { ...result, acted: 0, refused: [], refusedCount: 0 }
  if (found.length !== expectedCount) throw new CountDiffers(expectedCount, found.length)
  const by = { actor, ...(cause === undefined ? {} : { cause }) }
  // The oldest first: what was skipped because of another comes after it.
  const ids = found.map(({ id }) => id).reverse()
  const refused: { id: string; message: string }[] = []
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE)
    const isDone = await unlessRefused(() => millrace[verb](some, by))
    if (isDone === undefined) continue
    for (const id of some) {
      const refusal = await unlessRefused(() => millrace[verb](id, by))
      if (refusal !== undefined) refused.push({ id, message: refusal.message })
    }
  }
  return {
    ...result,
    acted: ids.length - refused.length,
    refused: refused.slice(0, SHOWN),
    refusedCount: refused.length,
  }
}

/** Retention may have taken a task since it was found: then it is refused like one whose state is another by now. */
async function unlessRefused(act: () => Promise<void>): Promise<StateRefused | TaskNotFound | undefined> {
  try {
    await act()
    return undefined
  } catch (error) {
    if (error instanceof StateRefused || error instanceof TaskNotFound) return error
    throw error
  }
}

async function findAll(millrace: Millrace, filter: TaskFilter, allowed: readonly TaskState[]): Promise<TaskSummary[]> {
  const state = filter.state === undefined ? allowed : allowed.filter((one) => filter.state?.includes(one))
  if (state.length === 0) return []
  const found: TaskSummary[] = []
  const until = performance.now() + SEARCH_MS
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Awaited<ReturnType<Millrace['list']>> = await millrace.list({
      ...filter,
      state,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    found.push(...page.items)
    cursor = page.next
    if (found.length > MOST || (cursor !== null && performance.now() > until)) throw new TooManyTasks(MOST)
  }
  return found
}
