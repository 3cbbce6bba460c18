// The newest events that fit a filter, those before them when asked for, and those that come, unless it is paused.
import { useEffect, useRef, useState } from 'react'
import { type Earlier, type EventFilter, readEarlier, readPosition } from '../../events/read-events.ts'
import { type LiveEvent, useLive } from '../../live.ts'
import {
  begun,
  behind,
  fits,
  paused,
  resumed,
  scopesOf,
  type Tail,
  withEarlier,
  withHeard,
  withNewest,
} from './tail.ts'

export function useTail(filter: EventFilter, until: number | undefined) {
  const isMoment = until !== undefined
  const [tail, setTail] = useState(() => begun(isMoment))
  const [error, setError] = useState<Error>()
  const newest = useReading(filter, setTail, setError)
  const earlier = useReading(filter, setTail, setError)
  const { scope, topics, task } = filter

  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter or moment begins anew
  useEffect(() => {
    setTail(begun(isMoment))
    void newest.read(until, withNewest)
    return () => {
      newest.end()
      earlier.end()
    }
  }, [scope, topics, task, until])

  const refresh = () => {
    setTail(behind)
    return newest.read(until, withNewest)
  }
  const hear = (heard: readonly LiveEvent[]) =>
    setTail((now) =>
      withHeard(
        now,
        heard.filter((event) => fits(filter, event)),
      ),
    )
  // What is paused stays as it is; what is missing is read when it goes on.
  const onReset = () => (tail.isPaused ? setTail(behind) : refresh())
  useLive(isMoment ? [] : scopesOf(filter), hear, onReset)
  const resume = () => {
    setTail(resumed)
    if (tail.isBehind) void refresh()
  }
  return {
    events: tail.events,
    error,
    isBusy: newest.isBusy,
    isPaused: tail.isPaused,
    waiting: tail.waiting.length,
    hasEarlier: tail.before !== undefined,
    isBusyEarlier: earlier.isBusy,
    pause: () => setTail(paused),
    resume,
    earlier: () => void earlier.read(tail.before, (now, found) => withEarlier(now, found, tail.before)),
    retry: () => void refresh(),
  }
}

/** One reading at a time: the newest may be read while somebody waits for what lies before, and keep neither from the other. */
function useReading(
  filter: EventFilter,
  setTail: (change: (tail: Tail) => Tail) => void,
  setError: (error: Error | undefined) => void,
) {
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController>(undefined)
  const read = async (position: number | undefined, take: (tail: Tail, found: Earlier) => Tail) => {
    running.current?.abort()
    const ended = new AbortController()
    running.current = ended
    setBusy(true)
    setError(undefined)
    try {
      const found = await readEarlier(filter, position ?? (await readPosition(ended.signal)), ended.signal)
      if (!ended.signal.aborted) setTail((now) => take(now, found))
    } catch (failed) {
      if (!ended.signal.aborted) setError(failed as Error)
    } finally {
      if (running.current === ended) setBusy(false)
    }
  }
  return { isBusy, read, end: () => running.current?.abort() }
}
