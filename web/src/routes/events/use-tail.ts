// The newest events that fit a filter, those before them when asked for, and those that come, unless it is paused.
import { useEffect, useRef, useState } from 'react'
import { type EventFilter, readEarlier, readPosition } from '../../events/read-events.ts'
import { type LiveEvent, useLive } from '../../live.ts'

/** So many are kept in the page at most; the oldest go first, unless somebody asked for those. */
const KEPT = 2_000

export function useTail(filter: EventFilter, until: number | undefined) {
  const [events, setEvents] = useState<readonly LiveEvent[]>()
  const [waiting, setWaiting] = useState<readonly LiveEvent[]>([])
  const [before, setBefore] = useState<number>()
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(true)
  const [isPaused, setPaused] = useState(until !== undefined)
  const [round, setRound] = useState(0)
  const running = useRef<AbortController>(undefined)
  const { scope, topics, task } = filter

  const load = async (position: number | undefined, known: readonly LiveEvent[]) => {
    running.current?.abort()
    const ended = new AbortController()
    running.current = ended
    setBusy(true)
    setError(undefined)
    try {
      const found = await readEarlier(filter, position ?? (await readPosition(ended.signal)), ended.signal)
      setEvents((now) => merge(known.length === 0 ? found.events : known, [...(now ?? []), ...found.events]))
      setBefore(found.before)
    } catch (failed) {
      if (!ended.signal.aborted) setError(failed as Error)
    } finally {
      if (!ended.signal.aborted) setBusy(false)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter or moment begins anew
  useEffect(() => {
    setEvents(undefined)
    setWaiting([])
    setPaused(until !== undefined)
    void load(until, [])
    return () => running.current?.abort()
  }, [scope, topics, task, until, round])

  const hear = (heard: readonly LiveEvent[]) => {
    const fresh = heard.filter((event) => fits(filter, event)).toReversed()
    if (isPaused) setWaiting((known) => [...fresh, ...known].slice(0, KEPT))
    else setEvents((known) => merge(fresh, known ?? []))
  }
  const retry = () => setRound((now) => now + 1)
  useLive([scope ?? '*'], hear, retry)
  const resume = () => {
    setPaused(false)
    setEvents(merge(waiting, events ?? []))
    setWaiting([])
  }
  return {
    events,
    error,
    isBusy,
    isPaused,
    waiting: waiting.length,
    hasEarlier: before !== undefined,
    pause: () => setPaused(true),
    resume,
    earlier: () => void load(before, events ?? []),
    retry,
  }
}

/** The stream is by scope; names and tasks are looked at here. */
function fits({ topics, task }: EventFilter, event: LiveEvent): boolean {
  const names = topics?.split(',')
  return (names === undefined || names.includes(event.name)) && (task === undefined || event.task === task)
}

/** The newest first, each once. */
function merge(a: readonly LiveEvent[], b: readonly LiveEvent[]): LiveEvent[] {
  const all = new Map([...a, ...b].map((event) => [event.id, event]))
  return [...all.values()].sort((x, y) => Number(y.id) - Number(x.id)).slice(0, KEPT)
}
