import { createHash } from 'node:crypto'
import type { Db } from '../db/index.ts'
import { toTaskId } from './add.ts'
import { CursorMismatch, InvalidOption } from './errors.ts'
import { findKeyed, pickTasks, readLanes, readSummaries } from './lists.sql.ts'
import { intersect, meetsPattern, type Pattern, parseQuery, type Query } from './parse-query.ts'
import { type TaskId, type TaskState, taskStates } from './task.ts'

/** Which tasks: those that meet everything that is given. */
export type TaskFilter = {
  /** In any of these states. */
  readonly state?: readonly TaskState[]
  readonly scope?: string
  /** Of all scopes that begin so, as `archive:`. */
  readonly scopePrefix?: string
  readonly kind?: string
  readonly queue?: string
  /** Added by a callback of this task. */
  readonly creator?: TaskId
  /** As in a search field: words and qualifiers, `state:failed scope:archive:* index`. */
  readonly text?: string
}

export type ListOptions = TaskFilter & {
  /** At most this many. Default: 50. */
  readonly limit?: number
  /** `next` of the page before, which was asked for with the same filter. */
  readonly cursor?: string
  /** How long to look for more, in milliseconds. Default: 20. */
  readonly budgetMs?: number
}

export type TaskSummary = {
  readonly id: TaskId
  /** Null: a milestone. */
  readonly kind: string | null
  readonly queue: string | null
  readonly scope: string
  readonly key: string | null
  readonly priority: number
  readonly creator: TaskId | null
  readonly actor: string | null
  readonly state: TaskState
  /** Requirements that are not met yet. */
  readonly unmet: number
  readonly createdAt: Date
  readonly readyAt: Date | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly notBefore: Date | null
  readonly failures: number
  readonly dispatcher: { readonly id: number; readonly name: string } | null
  readonly isCanceling: boolean
  readonly cause: string | null
  readonly culprit: TaskId | null
}

export type TaskList = {
  /** Newest first. */
  readonly items: readonly TaskSummary[]
  /** To be given as `cursor` for more; null: there are no more. It may be there although `items` are few or none. */
  readonly next: string | null
}

const MOST = 1000
const BUDGET_MS = 20
const NONE: TaskList = { items: [], next: null }

/**
 * Tasks that meet the filter, newest first, a page at a time. Looks for a bounded time: where few among millions meet the
 * filter, a page may hold less than was asked for, and the cursor goes on from where the look ended.
 */
export async function listTasks(db: Db, options: ListOptions = {}): Promise<TaskList> {
  const { limit = 50, cursor, budgetMs = BUDGET_MS, ...filter } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new InvalidOption(`limit cannot be ${limit}: it is 1 to ${MOST}`)
  const digest = digestOf(filter)
  const before = cursor === undefined ? String(2n ** 62n) : readCursor(cursor, digest)
  const search = await toSearch(db, filter)
  if (search === undefined) return NONE
  const { ids, next } = await pickTasks(db, { ...search, before, limit, budget_ms: budgetMs })
  const rows = ids.length === 0 ? [] : await readSummaries(db, { ids })
  // Between the two statements a task may have gone on: one that is shown is in a state that was asked for.
  const { states } = search
  const fitting = states === null ? rows : rows.filter((row) => states.includes(row.state))
  return { items: fitting.map(toSummary), next: next === null ? null : writeCursor(next, digest) }
}

type Search = Omit<Parameters<typeof pickTasks>[1], 'before' | 'limit' | 'budget_ms'>

/** What the database is asked for; undefined when nothing can meet it. */
async function toSearch(db: Db, filter: TaskFilter): Promise<Search | undefined> {
  const query = parseQuery(filter.text ?? '')
  const states = toStates(filter.state, query)
  const scopes = [exactly(filter.scope), beginning(filter.scopePrefix), some(query.scopes)].reduce(intersect)
  const lanes = await toLanes(db, filter, query)
  const ids = await toIds(db, scopes, query)
  if ([states, scopes, lanes, ids].some((list) => list?.length === 0)) return undefined
  const keys = query.keys.map(toLike)
  const words = query.words.map((word) => `%${literal(word.toLowerCase())}%`)
  return {
    states: states ?? null,
    ...toScopes(scopes),
    lanes: lanes ?? null,
    creator: filter.creator === undefined ? null : toTaskId(filter.creator),
    ids: ids ?? null,
    keys: some(keys) ?? null,
    words: some(words) ?? null,
  }
}

const exactly = (text: string | undefined): Pattern[] | undefined =>
  text === undefined ? undefined : [{ text, isPrefix: false }]
const beginning = (text: string | undefined): Pattern[] | undefined =>
  text === undefined ? undefined : [{ text, isPrefix: true }]
const some = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list)

const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&')
const toLike = ({ text, isPrefix }: Pattern) => literal(text) + (isPrefix ? '%' : '')

function toStates(wanted: readonly TaskState[] | undefined, query: Query): TaskState[] | undefined {
  const unknown = wanted?.find((state) => !taskStates.states.includes(state))
  if (unknown !== undefined) throw new InvalidOption(`"${unknown}" is no state`)
  const stuck: readonly TaskState[] | undefined = query.isStuck ? ['ready'] : undefined
  const given = [wanted, some(query.states), stuck].filter((list) => list !== undefined)
  if (given.length === 0) return undefined
  return taskStates.states.filter((state) => given.every((list) => list.includes(state)))
}

/** Whole scopes and one beginning have a short way to their tasks; whatever else is compared with each task. */
function toScopes(
  scopes: readonly Pattern[] | undefined,
): Pick<Search, 'scopes' | 'patterns' | 'prefix' | 'prefix_end'> {
  const none = { scopes: null, patterns: null, prefix: null, prefix_end: null }
  if (scopes === undefined) return none
  if (!scopes.some((scope) => scope.isPrefix)) return { ...none, scopes: scopes.map((scope) => scope.text) }
  const [only] = scopes.length === 1 ? scopes : []
  const end = only === undefined ? null : endOf(only.text)
  return { ...none, patterns: scopes.map(toLike), prefix: end === null ? null : (only?.text ?? null), prefix_end: end }
}

/** Tasks that are asked for by id, or by scope and key; undefined when they are not. */
async function toIds(db: Db, scopes: readonly Pattern[] | undefined, query: Query): Promise<string[] | undefined> {
  const ids = query.ids.length === 0 ? undefined : [...query.ids]
  const names = [...(scopes ?? []), ...query.keys]
  if (scopes === undefined || query.keys.length === 0 || names.some((name) => name.isPrefix)) return ids
  const pairs = scopes.flatMap((scope) => query.keys.map((key) => [scope.text, key.text] as const))
  const found = await findKeyed(db, { scopes: pairs.map(([scope]) => scope), keys: pairs.map(([, key]) => key) })
  return found.map((row) => row.id).filter((id) => ids?.includes(id) ?? true)
}

/** Kinds and queues by the numbers of their lanes; undefined when none is asked for. */
async function toLanes(db: Db, filter: TaskFilter, query: Query): Promise<number[] | undefined> {
  const kinds = intersect(exactly(filter.kind), some(query.kinds))
  const queues = intersect(exactly(filter.queue), some(query.queues))
  if (kinds === undefined && queues === undefined && !query.isStuck) return undefined
  const lanes = await readLanes(db, {})
  return lanes
    .filter((lane) => kinds === undefined || meetsPattern(lane.kind, kinds))
    .filter((lane) => queues === undefined || meetsPattern(lane.queue, queues))
    .filter((lane) => !query.isStuck || !lane.is_taken)
    .map((lane) => lane.id)
}

/** The first text behind all that begin so, in the order of code points; null when there is none. */
function endOf(prefix: string): string | null {
  const points = Array.from(prefix)
  const last = points.pop()?.codePointAt(0) ?? 0x10ffff
  // Next to these lie halves of pairs, or nothing.
  if (last === 0xd7ff || last === 0x10ffff) return null
  return points.join('') + String.fromCodePoint(last + 1)
}

function digestOf(filter: TaskFilter): string {
  const { state, scope, scopePrefix, kind, queue, creator, text } = filter
  const canonical = JSON.stringify([state ?? null, scope, scopePrefix, kind, queue, creator, text])
  return createHash('sha256').update(canonical).digest('base64url').slice(0, 8)
}

const writeCursor = (before: string, digest: string) => `${BigInt(before).toString(36)}-${digest}`

function readCursor(cursor: string, digest: string): string {
  const [, before, of] = /^([0-9a-z]{1,12})-([\w-]{8})$/.exec(cursor) ?? []
  if (before === undefined || of !== digest) throw new CursorMismatch()
  return String(Array.from(before).reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n))
}

function toSummary(row: Awaited<ReturnType<typeof readSummaries>>[number]): TaskSummary {
  return {
    id: row.id,
    kind: row.kind,
    queue: row.queue,
    scope: row.scope,
    key: row.key,
    priority: row.priority,
    creator: row.creator,
    actor: row.actor,
    state: row.state,
    unmet: row.unmet,
    createdAt: row.created_at,
    readyAt: row.ready_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    notBefore: row.not_before,
    failures: row.failures,
    dispatcher: row.holder === null ? null : { id: row.holder, name: row.dispatcher ?? '' },
    isCanceling: row.is_canceling,
    cause: row.cause,
    culprit: row.culprit,
  }
}
