// What happens on the server, as the screens see it. `useLive` hears events of some scopes, one call per frame; `useFresh`
// fetches again what they have outdated; `useLiveState` is for the badge.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { clock } from './clock.ts'
import { leadByLock, openChannel, openEventSource, readPage } from './live/browser.ts'
import { SharedStream } from './live/share.ts'
import type { LiveEvent, StreamState } from './live/stream.ts'

export type { LiveEvent } from './live/stream.ts'

export type LiveState =
  | { readonly is: 'live'; readonly lagMs: number }
  | { readonly is: 'polling' }
  | { readonly is: 'catching up' }
  | { readonly is: 'paused'; readonly since: number }
  | { readonly is: 'offline'; readonly since: number }

type Listener = {
  readonly topics: readonly string[]
  hear(events: readonly LiveEvent[]): void
  /** Resolves when what is shown is of this moment again. */
  reset(): unknown
}

/** A hidden tab keeps hearing for so long: who looks away for a moment finds everything as it is. */
const HIDDEN_MS = 30_000

const listeners = new Set<Listener>()
const hearers = new Set<(events: readonly LiveEvent[]) => void>()
const watchers = new Set<() => void>()
/** As the stream is; `shown` is what the badge says of it. */
let state: LiveState = { is: 'catching up' }
let shown: LiveState = state
/** Listeners that fetch what they have missed. */
let catchingUp = 0
let lagMs = 0
let isPaused = false
let waiting: LiveEvent[] = []
let isFrameAsked = false

const stream = new SharedStream({
  tab: Math.random().toString(36).slice(2),
  channel: openChannel(),
  lead: leadByLock,
  open: openEventSource,
  page: readPage,
  onEvents: (events) => {
    const last = events.at(-1)
    if (last !== undefined) lagMs = Math.max(0, clock.now() - Date.parse(last.at))
    waiting.push(...events)
    askForFrame()
  },
  onReset: () => tellReset(),
  onState: (is) => setState(toLiveState(is)),
})

function toLiveState(given: StreamState): LiveState {
  if (given.is === 'live') return { is: 'live', lagMs }
  if (given.is === 'connecting') return { is: 'catching up' }
  return given
}

function setState(next: LiveState): void {
  if (isPaused && next.is !== 'paused') return
  const isBack = state.is === 'offline' && (next.is === 'live' || next.is === 'polling')
  state = next
  showState()
  // What could not be fetched meanwhile is fetched now.
  if (isBack) tellReset()
}

/** Events come, but what is shown is not of this moment before what was missed has been fetched. */
function showState(): void {
  const isBehind = catchingUp > 0 && (state.is === 'live' || state.is === 'polling')
  shown = isBehind ? { is: 'catching up' } : state
  for (const watch of watchers) watch()
}

function askForFrame(): void {
  if (isFrameAsked) return
  isFrameAsked = true
  // Nothing is drawn for a hidden tab, and no frame would come.
  if (document.hidden) setTimeout(deliver, 250)
  else requestAnimationFrame(deliver)
}

function deliver(): void {
  isFrameAsked = false
  const events = waiting
  waiting = []
  if (state.is === 'live' && isOtherLag(state.lagMs)) setState({ is: 'live', lagMs })
  for (const listener of listeners) {
    const heard = events.filter(({ scope }) => listener.topics.some((topic) => isOf(topic, scope)))
    if (heard.length > 0) listener.hear(heard)
  }
  for (const hear of hearers) hear(events)
}

/** Small changes are not worth a new picture. */
const isOtherLag = (shown: number) => Math.abs(shown - lagMs) > Math.max(20, shown / 2)

/** Whether a scope is of a topic: the same, `*`, or one that begins as the topic that ends in `*` says. */
export function isOf(topic: string, scope: string): boolean {
  return topic.endsWith('*') ? scope.startsWith(topic.slice(0, -1)) : topic === scope
}

function tellReset(): void {
  waiting = []
  for (const listener of listeners) void catchUp(listener)
}

async function catchUp(listener: Listener): Promise<void> {
  const caughtUp = listener.reset()
  if (!(caughtUp instanceof Promise)) return
  catchingUp += 1
  showState()
  await caughtUp.catch(() => undefined)
  catchingUp -= 1
  showState()
}

function followListeners(): void {
  stream.follow([...new Set([...listeners].flatMap(({ topics }) => topics))].sort())
}

/** Stops the stream until `resumeLive`; what is shown stays as it is. */
export function pauseLive(): void {
  isPaused = true
  stream.stop()
  setState({ is: 'paused', since: clock.now() })
}

/** Goes on: everything shown is fetched again, and then followed. */
export function resumeLive(): void {
  isPaused = false
  setState({ is: 'catching up' })
  stream.start()
  tellReset()
}

/** Tries again at once what would be tried by itself in a while. */
export function retryLive(): void {
  stream.stop()
  stream.start()
}

/** Begins to follow the server, and pauses by itself while nobody looks. Answers how to end it. */
export function startLive(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isAsleep = false
  const look = () => {
    clearTimeout(timer)
    if (document.hidden) {
      timer = setTimeout(() => {
        isAsleep = true
        stream.stop()
      }, HIDDEN_MS)
    } else if (isAsleep && !isPaused) {
      isAsleep = false
      resumeLive()
    }
  }
  document.addEventListener('visibilitychange', look)
  stream.start()
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
    stream.stop()
  }
}

const watch = (onChange: () => void) => {
  watchers.add(onChange)
  return () => watchers.delete(onChange)
}

export const useLiveState = (): LiveState => useSyncExternalStore(watch, () => shown)

/**
 * Hears the events of the given scopes (`archive:My-Project`, `archive:*`, `*`), at most once per frame. `onReset` is
 * called when events may have been missed; until the promise that it answers resolves, the badge says so.
 */
export function useLive(
  topics: readonly string[],
  onEvents: (events: readonly LiveEvent[]) => void,
  onReset: () => unknown = () => {},
): void {
  const latest = useRef({ onEvents, onReset })
  useEffect(() => {
    latest.current = { onEvents, onReset }
  })
  const joined = topics.join('\n')
  useEffect(() => {
    if (joined === '') return
    const listener: Listener = {
      topics: joined.split('\n'),
      hear: (events) => latest.current.onEvents(events),
      reset: () => latest.current.onReset(),
    }
    listeners.add(listener)
    followListeners()
    return () => {
      listeners.delete(listener)
      followListeners()
    }
  }, [joined])
}

/** Hears whatever the screens hear, without asking for anything itself. */
export function useHeard(onEvents: (events: readonly LiveEvent[]) => void): void {
  const latest = useRef(onEvents)
  useEffect(() => {
    latest.current = onEvents
  })
  useEffect(() => {
    const hear = (events: readonly LiveEvent[]) => latest.current(events)
    hearers.add(hear)
    return () => void hearers.delete(hear)
  }, [])
}

/** No list is fetched more often than this, however much happens. */
const FRESH_MS = 1_000

/**
 * Fetches the queries of these names (`tasks.list`, `archives.loom`) again when something happens in the scopes, at once
 * and then at most once a second. For what is large, patch by `useLive` instead.
 */
export function useFresh(topics: readonly string[], names: readonly string[]): void {
  const queries = useQueryClient()
  const pending = useRef<{ timer?: ReturnType<typeof setTimeout> | undefined; lastAt: number }>({ lastAt: 0 })
  const refetch = () => {
    pending.current.timer = undefined
    pending.current.lastAt = Date.now()
    void queries.invalidateQueries({ predicate: ({ queryKey }) => names.includes(String(queryKey[0])) })
  }
  const soon = () => {
    const waitMs = Math.max(0, pending.current.lastAt + FRESH_MS - Date.now())
    pending.current.timer ??= setTimeout(refetch, waitMs)
  }
  useLive(topics, soon, soon)
  useFreshWhenShown(names, topics.join('\n'))
  useEffect(() => () => clearTimeout(pending.current.timer), [])
}

/**
 * Fetches what was kept of the queries of these names again when a screen is shown, or shows something else: while nobody
 * showed it, nobody heard what outdated it. `useFresh` does it; who patches by `useLive` needs it.
 */
export function useFreshWhenShown(names: readonly string[], shown: string): void {
  const queries = useQueryClient()
  const joined = names.join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: something else that is shown was not shown until now
  useEffect(() => {
    const shownAt = Date.now()
    void queries.invalidateQueries(
      {
        predicate: ({ queryKey, state: { dataUpdatedAt } }) =>
          joined.split('\n').includes(String(queryKey[0])) && dataUpdatedAt > 0 && dataUpdatedAt < shownAt,
      },
      { cancelRefetch: false },
    )
  }, [queries, joined, shown])
}
