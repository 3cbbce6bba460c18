// What the screen of events shows, what waits behind a pause, and how far back was looked. Without React and server, so that
// a test can be both.
import type { Earlier, EventFilter } from '../../events/read-events.ts'
import type { LiveEvent } from '../../live.ts'
import { nameOfTask } from '../../tasks/task-name.ts'

/** So many are kept in the page at most; the oldest go first, unless somebody asked for those. */
export const KEPT = 2_000

export type Tail = {
  /** The newest first; undefined until they were read. */
  readonly events: readonly LiveEvent[] | undefined
  /** What came and is not shown yet. */
  readonly waiting: readonly LiveEvent[]
  /** Up to here there is more to be read; undefined: there is nothing before. */
  readonly before: number | undefined
  readonly most: number
  readonly isPaused: boolean
  /** Between what is shown and what comes something may be missing, until the newest were read. */
  readonly isBehind: boolean
}

export const begun = (isPaused: boolean): Tail => ({
  events: undefined,
  waiting: [],
  before: undefined,
  most: KEPT,
  isPaused,
  isBehind: true,
})

export const paused = (tail: Tail): Tail => ({ ...tail, isPaused: true })
export const behind = (tail: Tail): Tail => ({ ...tail, isBehind: true })

/** Goes on. Where something may be missing, what waits is shown with the newest, which are to be read. */
export function resumed(tail: Tail): Tail {
  if (tail.isBehind) return { ...tail, isPaused: false }
  return shown({ ...tail, isPaused: false, waiting: [] }, [...tail.waiting, ...(tail.events ?? [])])
}

/** With what came, in the order in which it came. */
export function withHeard(tail: Tail, heard: readonly LiveEvent[]): Tail {
  if (heard.length === 0) return tail
  const fresh = heard.toReversed()
  if (!tail.isPaused && !tail.isBehind) return shown(tail, [...fresh, ...(tail.events ?? [])])
  const waiting = [...fresh, ...tail.waiting]
  // What does not fit is read when it goes on.
  return { ...tail, waiting: waiting.slice(0, KEPT), isBehind: tail.isBehind || waiting.length > KEPT }
}

/** With the newest, read just now: beside what was shown where both meet, and in its place where they do not. */
export function withNewest(tail: Tail, { events, before }: Earlier): Tail {
  if (tail.isPaused && tail.events !== undefined) return tail
  const known = tail.events ?? []
  const isMet = known.length > 0 && (before === undefined || Number(known[0]?.id) > before)
  const waiting = tail.isPaused ? [] : tail.waiting
  const next = {
    ...tail,
    waiting: tail.isPaused ? tail.waiting : [],
    isBehind: false,
    ...(isMet ? {} : { before, most: KEPT }),
  }
  return shown(next, [...waiting, ...events, ...(isMet ? known : [])])
}

/**
 * With what lies before: all of it stays, and there is room for what comes beside it. Where it was read from another place
 * than what is shown now begins at, something would be missing between them.
 */
export function withEarlier(tail: Tail, { events, before }: Earlier, from = tail.before): Tail {
  if (from !== tail.before) return tail
  const all = [...(tail.events ?? []), ...events]
  return shown({ ...tail, before, most: all.length + KEPT }, all)
}

/** Shows these, the newest first and each once. What there is no room for is found again by looking before the rest. */
function shown(tail: Tail, all: readonly LiveEvent[]): Tail {
  const byId = new Map(all.map((event) => [event.id, event]))
  const sorted = [...byId.values()].sort((a, b) => Number(b.id) - Number(a.id))
  if (sorted.length <= tail.most) return { ...tail, events: sorted }
  const events = sorted.slice(0, tail.most)
  return { ...tail, events, before: Number(events.at(-1)?.id) - 1 }
}

const listOf = (text: string | undefined) => text?.split(',').filter((one) => one !== '')

/** The scopes that a filter is about, as they are listened to. */
export const scopesOf = ({ scope }: EventFilter): readonly string[] => listOf(scope) ?? ['*']

/** The stream is by scope; names and tasks, by number or natural key, are looked at here. */
export function fits({ topics, task }: EventFilter, event: LiveEvent): boolean {
  const [names, tasks] = [listOf(topics), listOf(task)]
  return (names?.includes(event.name) ?? true) && (tasks?.some((asked) => isCalled(event, asked)) ?? true)
}

function isCalled({ task, scope, key }: LiveEvent, asked: string): boolean {
  if (task === null) return false
  return asked === task || (key !== null && [`${scope}/${key}`, nameOfTask({ id: task, scope, key })].includes(asked))
}
