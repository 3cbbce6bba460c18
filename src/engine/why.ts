import type { Db } from '../db/index.ts'
import { read, type Task } from './read.ts'
import { readGateHolders, readPlaces, readReadiness, readScopesAt, readUnmet } from './reads.sql.ts'
import { nameOfTask } from './resolve.ts'
import type { TaskId } from './task.ts'

export type Why = {
  /** One sentence. */
  readonly sentence: string
  /** The tasks that stand in the way, or stood. */
  readonly culprits: readonly TaskId[]
}

const MOST_NAMED = 3

/**
 * Why the task is in the state it is in, in one sentence with the ids of those to blame. `db` is the snapshot that the
 * task was read in: a sentence made of two moments would be true of neither.
 */
export async function whyOf(db: Db, task: Task): Promise<Why> {
  switch (task.state) {
    case 'waiting':
      return whyWaiting(db, task)
    case 'ready':
      return whyReady(db, task)
    case 'held':
      return { sentence: `is held${task.heldBy ? ` by ${task.heldBy}` : ''} until it is released`, culprits: [] }
    case 'delayed':
      return {
        sentence: `is not to start before ${task.notBefore?.toISOString()}${task.failures > 0 ? `, after ${task.failures} failed ${task.failures === 1 ? 'attempt' : 'attempts'}` : ''}`,
        culprits: [],
      }
    case 'running':
      return {
        sentence: `${task.isCanceling ? 'was asked to stop' : 'is running'} on ${task.dispatcher?.name} since ${task.startedAt?.toISOString()}${task.isCanceling && task.cause !== null ? ` (${task.cause})` : ''}`,
        culprits: task.culprit === null ? [] : [task.culprit],
      }
    case 'succeeded':
      return { sentence: `succeeded${by(task)}`, culprits: [] }
    case 'failed':
      return { sentence: `failed: ${messageOf(task.error) ?? task.cause ?? 'no reason was given'}`, culprits: [] }
    case 'canceled':
      return {
        sentence: `was canceled: ${task.cause ?? 'no reason was given'}`,
        culprits: task.culprit === null ? [] : [task.culprit],
      }
    case 'skipped':
      return whySkipped(db, task)
  }
}

const by = (task: Task) => (task.cause !== null && task.culprit === null ? ` (${task.cause})` : '')

function messageOf(error: unknown): string | undefined {
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' ? message : undefined
}

async function whyWaiting(db: Db, task: Task): Promise<Why> {
  const unmet = await readUnmet(db, { id: task.id, limit: MOST_NAMED })
  const first = unmet[0]
  if (first === undefined) {
    const { superseding } = await readReadiness(db, { id: task.id })
    return superseding.length > 0
      ? { sentence: `is about to cancel ${list(superseding)}, which it supersedes`, culprits: superseding }
      : { sentence: 'has its requirements met and is about to become ready', culprits: [] }
  }
  const parts = unmet.map((row) => `${nameOf(row)}${whenOf(row.condition)}, ${stateOf(row)}`)
  const more = task.unmet > unmet.length ? ` and ${task.unmet - unmet.length} more` : ''
  return { sentence: `waits for ${parts.join('; for ')}${more}`, culprits: unmet.map((row) => row.id) }
}

async function whyReady(db: Db, task: Task): Promise<Why> {
  const facts = await readReadiness(db, { id: task.id })
  if (facts.gate !== null) return whyGated(db, task, { gate: facts.gate, capacity: facts.capacity ?? 1 })
  if (task.kind === null) return { sentence: 'is about to complete', culprits: [] }
  const places = await readPlaces(db, { id: task.id })
  if (places.length === 0) {
    return { sentence: `no dispatcher takes kind "${task.kind}" from queue "${task.queue}" at present`, culprits: [] }
  }
  if (places.every(({ slots, taken }) => slots !== null && taken >= slots)) return whyFull(db, places)
  const ahead =
    facts.ahead >= 1000 ? '1000 or more tasks are' : facts.ahead === 1 ? '1 task is' : `${facts.ahead} tasks are`
  return { sentence: `is ready; ${facts.ahead === 0 ? 'it is the next one' : `${ahead} ahead of it`}`, culprits: [] }
}

async function whyGated(db: Db, task: Task, { gate, capacity }: { gate: string; capacity: number }): Promise<Why> {
  const holders = await readGateHolders(db, { id: task.id, limit: MOST_NAMED })
  const [type, name] = [gate.slice(0, gate.indexOf(' ')), gate.slice(gate.indexOf(' ') + 1)]
  const [, archive] = /^archive:(.+)$/s.exec(name) ?? []
  const owner = archive === undefined ? `"${name}"` : `of archive ${archive}`
  const what =
    type === 'lock'
      ? `the lock ${owner}`
      : `a place ${archive === undefined ? 'of ' : ''}${owner} (${capacity} at once)`
  const more = (holders[0]?.count ?? 0) - holders.length
  const held = holders.map(nameOf).join(', ') + (more > 0 ? `, and ${more} more` : '')
  return {
    sentence: `waits for ${what}${holders.length > 0 ? `, held by ${held}` : ''}`,
    culprits: holders.map(({ id }) => id),
  }
}

type Places = Awaited<ReturnType<typeof readPlaces>>

/** Every dispatcher that would take the task has as many as it can take. */
async function whyFull(db: Db, places: Places): Promise<Why> {
  const scopes = await readScopesAt(db, { holders: places.map(({ id }) => id) })
  const named = scopes.slice(0, MOST_NAMED)
  const taken = named.map(({ scope, count }) => `${scope.replace(/^archive:/, '')} ${count}`)
  const more = scopes.length - named.length
  const slots = places.reduce((sum, place) => sum + (place.slots ?? 0), 0)
  const where = [...new Set(places.map(({ name }) => name))].join(' and ')
  const all = slots === 1 ? `the only place of ${where} is taken` : `all ${slots} places of ${where} are taken`
  const others = more > 0 ? `, and ${more} other ${more === 1 ? 'scope' : 'scopes'}` : ''
  return {
    sentence: `waits for a free place: ${all}, by ${taken.join(', ')}${others}`,
    culprits: named.map(({ first }) => first),
  }
}

async function whySkipped(db: Db, task: Task): Promise<Why> {
  if (task.culprit === null) return { sentence: `was skipped by hand${by(task)}`, culprits: [] }
  const culprit = await read(db, task.culprit)
  return {
    sentence: `was skipped, because ${nameOf(culprit)} ${culprit.state === 'canceled' || culprit.state === 'skipped' ? `was ${culprit.state}` : culprit.state}`,
    culprits: [culprit.id],
  }
}

type Named = { readonly id: string; readonly scope: string; readonly key: string | null; readonly kind: string | null }

function nameOf(of: Named): string {
  const name = nameOfTask(of)
  if (name !== null) return `${name} (task ${of.id})`
  return of.kind === null ? `milestone ${of.id}` : `task ${of.id} (${of.kind})`
}

const whenOf = (condition: string) =>
  condition === 'finished'
    ? ' to finish'
    : condition === 'failed'
      ? ' to fail'
      : condition === 'ended'
        ? ' to stop'
        : ''

function stateOf(row: {
  state: string
  seconds: number | null
  dispatcher: string | null
  is_unmeetable: boolean
}): string {
  if (row.state === 'running') return `running for ${duration(row.seconds ?? 0)} on ${row.dispatcher}`
  return row.is_unmeetable
    ? `which has ${row.state === 'succeeded' || row.state === 'failed' ? row.state : `been ${row.state}`}`
    : row.state
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

const list = (ids: readonly string[]) => `${ids.length === 1 ? 'task' : 'tasks'} ${ids.join(', ')}`
