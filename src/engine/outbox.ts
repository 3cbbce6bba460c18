// What subscribers are told. Every verb writes what it changed to the outbox in its own transaction; afterwards the
// events get numbers in an order in which none can be missed (migrations/functions/sequence_outbox.sql).
import type { Db, Pool } from '../db/index.ts'
import { toTaskId } from './add.ts'
import { InvalidOption, PositionGone } from './errors.ts'
import { pruneOutbox, readOutbox, sequenceOutbox, tellOutbox } from './outbox.sql.ts'
import { isStorable } from './output.ts'
import type { TaskState } from './task.ts'
import type {
  ApplicationEvent,
  EventFilter,
  EventPage,
  EventPosition,
  ReadEventsOptions,
  TaskEvent,
} from './task-event.ts'
import { checkName, checkText } from './text.ts'

type Answer = {
  readonly is_gone: boolean
  readonly oldest: string
  readonly newest: string
  readonly next: string
  readonly events: readonly EventColumns[] | null
}
type EventColumns = readonly [
  id: string,
  at: number,
  name: string,
  task: string | null,
  scope: string,
  key: string | null,
  kind: string | null,
  queue: string | null,
  from: TaskState | null,
  to: TaskState | null,
  cause: string | null,
  culprit: string | null,
  actor: string | null,
  dispatcher: number | null,
  detail: unknown,
]

const LIMIT = 1000
const MOST = 10_000
/** Events looked through for those that meet a filter, in one call. */
const MOST_SCANNED = 10_000

/** Events in their order, after a given one. Throws `PositionGone` when some after it are not kept any more. */
export async function readEvents(db: Db, options: ReadEventsOptions): Promise<EventPage> {
  const { after, limit = LIMIT, filter = {} } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new InvalidOption(`limit cannot be ${limit}: it is 1 to ${MOST}`)
  const page = await readForAll(db, { after, limit }, [filter])
  return { ...page, events: page.events.filter((event) => meets(event, filter)) }
}

/** Events that any of the filters may be met by. */
export async function readForAll(
  db: Db,
  { after, limit }: { after: EventPosition; limit: number },
  filters: readonly EventFilter[],
): Promise<EventPage> {
  const answer = await ask(db, after === OLDEST ? null : toPosition(after), limit, filters)
  if (answer.is_gone) throw new PositionGone(after, answer.oldest, answer.newest)
  return {
    events: (answer.events ?? []).map(toEvent),
    next: answer.next,
    hasMore: BigInt(answer.next) < BigInt(answer.newest),
  }
}

async function ask(db: Db, after: string | null, limit: number, filters: readonly EventFilter[]): Promise<Answer> {
  const search = toSearch(filters)
  const isNarrow = Object.values(search).some((value) => value !== null)
  const { answer } = await readOutbox(db, {
    after,
    limit,
    scan: isNarrow ? Math.max(limit, MOST_SCANNED) : limit,
    ...search,
  })
  return answer as Answer
}

type Search = Pick<Parameters<typeof readOutbox>[1], 'tasks' | 'scopes' | 'prefixes' | 'names'>

/** What the database looks for so that nothing that meets one of the filters is missing. */
function toSearch(filters: readonly EventFilter[]): Search {
  const search = { tasks: [] as string[], scopes: [] as string[], prefixes: [] as string[] }
  let isWide = filters.length === 0
  for (const { task, scope, scopePrefix } of filters) {
    if (task !== undefined) search.tasks.push(toTaskId(task))
    else if (scope !== undefined) search.scopes.push(scope)
    else if (scopePrefix !== undefined) search.prefixes.push(scopePrefix)
    else isWide = true
  }
  const names = filters.some((filter) => filter.names === undefined) ? null : filters.flatMap((f) => f.names ?? [])
  const some = (values: string[]) => (isWide || values.length === 0 ? null : values)
  return {
    tasks: some(search.tasks),
    scopes: some(search.scopes),
    prefixes: some(search.prefixes),
    names: filters.length === 0 ? null : names,
  }
}

/** Refuses a filter that the database could not be asked with: it is asked with those of all subscribers at once. */
export function checkFilter({ task, scope, scopePrefix, names = [] }: EventFilter): void {
  if (task !== undefined) toTaskId(task)
  for (const text of [scope, scopePrefix, ...names]) checkText('the filter', text)
}

/** Whether the event is one of those asked for. */
export function meets(event: TaskEvent, { task, scope, scopePrefix, names }: EventFilter): boolean {
  return (
    (task === undefined || event.task === task) &&
    (scope === undefined || event.scope === scope) &&
    (scopePrefix === undefined || event.scope.startsWith(scopePrefix)) &&
    (names === undefined || names.includes(event.name))
  )
}

function toEvent(columns: EventColumns): TaskEvent {
  const [id, at, name, task, scope, key, kind, queue, from, to, cause, culprit, actor, dispatcher, detail] = columns
  const when = new Date(at)
  return { id, at: when, name, task, scope, key, kind, queue, from, to, cause, culprit, actor, dispatcher, detail }
}

const OLDEST = 'oldest'

/** The position itself. Throws `InvalidOption` for what is none. */
export function toPosition(text: string): EventPosition {
  if (text !== OLDEST && !/^\d{1,18}$/.test(text))
    throw new InvalidOption(`"${text.slice(0, 40)}" is not the position of an event`)
  return text
}

/**
 * Gives numbers to the events of transactions that have committed, and answers the newest. Takes a pool and no client: it
 * must not be part of a transaction that writes.
 */
export async function sequence(pool: Pool): Promise<EventPosition> {
  return (await sequenceOutbox(pool, {})).newest
}

/** The position before the oldest event that is kept. */
export async function oldestPosition(db: Db): Promise<EventPosition> {
  return String(BigInt((await ask(db, null, 1, [])).oldest) - 1n)
}

/** The position of the newest event that has one. */
export async function newestPosition(db: Db): Promise<EventPosition> {
  return (await ask(db, null, 1, [])).newest
}

export type OutboxRetention = {
  /** Default: 604,800, which is seven days. */
  readonly seconds?: number
  /** Rows at most; a row holds what one statement did to any number of tasks. Default: 1,000,000. */
  readonly rows?: number
}

const WEEK_SECONDS = 604_800
const MOST_ROWS = 1_000_000
const MOST_PRUNED = 10_000

/** Gives numbers and deletes a portion of what need not be kept any more. Answers how many rows were deleted. */
export async function keepOutbox(pool: Pool, retention: OutboxRetention = {}): Promise<number> {
  await sequence(pool)
  const { count } = await pruneOutbox(pool, {
    seconds: retention.seconds ?? WEEK_SECONDS,
    rows: String(retention.rows ?? MOST_ROWS),
    limit: MOST_PRUNED,
  })
  return count
}

const APPLICATION_NAME = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/

/** Tells the subscribers of something, if and when the transaction of `db` commits. */
export async function publish(db: Db, event: ApplicationEvent): Promise<void> {
  const { name, scope, task, cause, actor, detail } = event
  // Without a dot it could be taken for an event of the engine.
  if (!APPLICATION_NAME.test(name) || name.length > 100)
    throw new InvalidOption(`"${name.slice(0, 40)}" cannot be the name of an event: write it as "revision.planned"`)
  checkName('scope', scope)
  checkText('cause', cause)
  checkText('actor', actor)
  await tellOutbox(db, {
    name,
    scope,
    task: task === undefined ? null : toTaskId(task),
    cause: cause ?? null,
    actor: actor ?? null,
    detail: detail === undefined ? null : toJson(detail),
  })
}

function toJson(detail: unknown): string {
  const text = JSON.stringify(detail) as string | undefined
  if (text === undefined || !isStorable(text)) throw new InvalidOption('the detail of an event cannot be kept as JSON')
  return text
}
