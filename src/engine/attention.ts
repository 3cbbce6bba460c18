// What needs a person's attention among tasks and those who perform them. Applications have theirs beside it.
import type { Db } from '../db/index.ts'
import { deadDispatchers, headsOfLine, heldTasks, recentFailures } from './attention.sql.ts'
import { nameOfTask } from './resolve.ts'

/** In falling order. */
export const severities = ['critical', 'warning', 'notice'] as const

export type Attention = {
  /** Stable; programs decide by it. */
  readonly code: string
  readonly severity: (typeof severities)[number]
  readonly sentence: string
  readonly since: Date | null
  /** How many there are of it; the thing that is named is one of them. */
  readonly count: number
  readonly task?: string
  readonly key?: string | null
  readonly kind?: string | null
  readonly queue?: string
  readonly scope?: string
  readonly worker?: number
  readonly archive?: string
  readonly revision?: number
  readonly schedule?: string
  readonly webhook?: string
  /** The name of the operation that helps: `tasks.retry`. */
  readonly action: string | null
}

const MOST_FAILURES = 500
const MOST_LOOKED_AT = 5000
const MOST_COUNTED = 1000
const MOST_GROUPS = 20
const MOST_DISPATCHERS = 200
const LONG_SECONDS = 300
/** Deliveries have a story of their own: that of their webhook. */
const DELIVERIES = 'webhook:'

export async function attention(db: Db, since: Date): Promise<Attention[]> {
  const found = await Promise.all([failures(db, since), lines(db), held(db), workers(db, since)])
  return found.flat()
}

type Failure = Awaited<ReturnType<typeof recentFailures>>[number]

/** What failed, together where it is the same in other revisions: keys differ in their numbers alone. */
async function failures(db: Db, since: Date): Promise<Attention[]> {
  const groups = new Map<string, Failure[]>()
  const asked = { since, without: DELIVERIES, scan: MOST_LOOKED_AT, limit: MOST_FAILURES }
  for (const one of await recentFailures(db, asked)) {
    const group = JSON.stringify([one.kind, one.scope, one.key?.replace(/\d+/g, '0') ?? null])
    groups.set(group, [...(groups.get(group) ?? []), one])
  }
  return [...groups.values()].slice(0, MOST_GROUPS).map((all) => {
    const [newest] = all as [Failure]
    const message = (newest.error as { message?: unknown } | null)?.message
    const others = all.length === 1 ? '' : `, and ${all.length - 1} like it`
    return {
      code: 'task_failed',
      severity: 'critical',
      sentence: `${nameOf(newest)} failed${others}${typeof message === 'string' ? `: ${message.slice(0, 300)}` : ''}`,
      since: newest.finished_at,
      count: all.length,
      ...about(newest),
      action: 'tasks.retry',
    }
  })
}

/** Lines that do not move: nobody takes from them, or the first has been there for long. */
async function lines(db: Db): Promise<Attention[]> {
  const heads = await headsOfLine(db, { most: MOST_COUNTED })
  return heads.flatMap((head): Attention[] => {
    const rest = { since: head.ready_at, count: head.waiting, ...about(head), queue: head.queue }
    const many = `${head.waiting >= MOST_COUNTED ? `${MOST_COUNTED} or more` : head.waiting} ready`
    if (head.takers === 0) {
      const paused =
        head.paused > 0
          ? `; ${head.paused === 1 ? 'one worker that does is' : `${head.paused} that do are`} paused`
          : ''
      const sentence = `no worker takes kind "${head.kind}" from queue "${head.queue}" (${many})${paused}`
      const action = head.paused > 0 ? 'workers.resume' : null
      return [{ code: 'no_worker', severity: 'critical', sentence, ...rest, action }]
    }
    if (head.seconds < LONG_SECONDS) return []
    const sentence = `${nameOf(head)} is first in its line and has been ready for ${Math.floor(head.seconds / 60)} min (${many})`
    return [{ code: 'line_stands', severity: 'warning', sentence, ...rest, action: null }]
  })
}

async function held(db: Db): Promise<Attention[]> {
  const all = await heldTasks(db, { most: MOST_COUNTED })
  const [first] = all
  if (first === undefined) return []
  const others = all.length === 1 ? '' : ` and ${all.length >= MOST_COUNTED ? 'many' : all.length - 1} more`
  const sentence = `${nameOf(first)}${others} ${all.length === 1 ? 'is' : 'are'} held${first.held_by === null ? '' : ` by ${first.held_by}`}`
  return [
    {
      code: 'tasks_held',
      severity: 'notice',
      sentence,
      since: null,
      count: all.length,
      ...about(first),
      action: 'tasks.release',
    },
  ]
}

async function workers(db: Db, since: Date): Promise<Attention[]> {
  const dead = await deadDispatchers(db, { since, limit: MOST_DISPATCHERS })
  return dead.slice(0, MOST_GROUPS).map(({ id, name, died_at: since, running }) => ({
    code: 'worker_died',
    severity: running > 0 ? 'critical' : 'warning',
    sentence: `worker ${name} fell silent${running > 0 ? ` with ${running} ${running === 1 ? 'task' : 'tasks'}, not yet taken from it` : '; its tasks were given to others'}`,
    since,
    count: Math.max(1, running),
    worker: id,
    action: null,
  }))
}

type Named = { readonly id: string; readonly scope: string; readonly key: string | null; readonly kind: string | null }

const about = ({ id, scope, key, kind }: Named) => ({ task: id, scope, key, kind })
const nameOf = (one: Named) => nameOfTask(one) ?? `task ${one.id}${one.kind === null ? '' : ` (${one.kind})`}`
