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
  const [isBusy, setBusy] = useState(true)
  const running = useRef<AbortController>(undefined)
  const { scope, topics, task } = filter

  const load = async (position: number | undefined, take: (tail: Tail, found: Earlier) => Tail) => {
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
      if (!ended.signal.aborted) setBusy(false)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter or moment begins anew
  useEffect(() => {
    setTail(begun(isMoment))
    void load(until, withNewest)
    return () => running.current?.abort()
  }, [scope, topics, task, until])

  const refresh = () => {
    setTail(behind)
    void load(until, withNewest)
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
    if (tail.isBehind) refresh()
  }
  return {
    events: tail.events,
    error,
    isBusy,
    isPaused: tail.isPaused,
    waiting: tail.waiting.length,
    hasEarlier: tail.before !== undefined,
    pause: () => setTail(paused),
    resume,
    earlier: () => void load(tail.before, withEarlier),
    retry: refresh,
  }
}
