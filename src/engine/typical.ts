// How long tasks like one usually take.
import type { Db } from '../db/index.ts'
import { listTasks } from './list.ts'
import type { Task } from './read.ts'

const MOST = 50
const FEWEST = 3

export type Typical = {
  /** How many successes it is taken from. */
  readonly count: number
  readonly p10Ms: number
  readonly medianMs: number
  readonly p90Ms: number
}

/**
 * From the last successes of the same kind in the same scope: of those with the same name, where keys are `number:name`,
 * else of all. A look of bounded time; undefined when too few were found.
 */
export async function typical(db: Db, task: Task): Promise<Typical | undefined> {
  if (task.kind === null) return undefined
  const name = nameOf(task.key)
  const filter = { state: ['succeeded'], kind: task.kind, scope: task.scope, limit: 200 } as const
  const { items } = await listTasks(db, filter)
  const alike = name === undefined ? items : items.filter(({ key }) => nameOf(key) === name)
  const durations = alike
    .filter(({ id }) => id !== task.id)
    .flatMap(({ startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null ? [] : [Math.max(0, finishedAt.getTime() - startedAt.getTime())],
    )
    .slice(0, MOST)
    .sort((a, b) => a - b)
  if (durations.length < FEWEST) return undefined
  const at = (share: number) => durations[Math.min(durations.length - 1, Math.floor(durations.length * share))] ?? 0
  return { count: durations.length, p10Ms: at(0.1), medianMs: at(0.5), p90Ms: at(0.9) }
}

/** `12:index#7` is the task `index` of its revision. */
const nameOf = (key: string | null) => /^\d+:([^#]+)/.exec(key ?? '')?.[1]
