// Everything in a log that matches, by asking the server page after page.
import { useEffect, useState } from 'react'
import { type BodyAnswered, call, routes } from '../api.ts'
import type { LogOf } from './use-log.ts'

export type Wanted = { readonly q: string; readonly isRegex: boolean; readonly isCase: boolean }
export type Match = Pick<BodyAnswered<typeof routes.taskLog.search>['items'][number], 'number' | 'ranges'>

export type Found = {
  readonly wanted: Wanted
  readonly matches: readonly Match[]
  /** The whole log was looked through. */
  readonly isAll: boolean
  readonly isUnderWay: boolean
  readonly error: Error | undefined
}

/** More are not kept: who looks for something finds it among so many, or looks for something else. */
const MOST = 5_000
const PAGE = 1_000

/** What looks like an error; near to what the server goes by for the first one. */
export const errorPattern: Wanted = {
  q: '\\b(?:error|fatal|panic|exception|traceback|segmentation fault|core dumped|failed|failure)\\b',
  isRegex: true,
  isCase: false,
}

export const isSame = (one: Wanted, other: Wanted): boolean =>
  one.q === other.q && one.isRegex === other.isRegex && one.isCase === other.isCase

/** Walks through the log from a line on. Calls back with all that was found so far; ends when told or at the end. */
export async function findMatches(
  of: LogOf,
  wanted: Wanted,
  { signal, from = 1, onFound }: { signal: AbortSignal; from?: number; onFound: (found: Found) => boolean },
): Promise<void> {
  let matches: Match[] = []
  let next: number | null = from
  while (next !== null) {
    const answer: BodyAnswered<typeof routes.taskLog.search> = await call(
      routes.taskLog.search,
      {
        params: { id: of.task },
        query: {
          q: wanted.q,
          regex: wanted.isRegex ? '1' : '0',
          case: wanted.isCase ? '1' : '0',
          attempt: of.attempt,
          stream: of.stream,
          from_line: next,
          limit: PAGE,
        },
      },
      { signal },
    )
    // The texts of the lines are not kept: they are there when the line is shown.
    matches = [...matches, ...answer.items.map(({ number, ranges }) => ({ number, ranges }))]
    next = answer.next_line
    const isEnough = matches.length >= MOST
    const goesOn = onFound({
      wanted,
      matches,
      isAll: next === null,
      isUnderWay: next !== null && !isEnough,
      error: undefined,
    })
    if (isEnough || !goesOn) return
  }
}

/** All matches of what is wanted; undefined while nothing is. `round` rises when the log was complete anew. */
export function useMatches(of: LogOf, wanted: Wanted | undefined, round: number): Found | undefined {
  const [found, setFound] = useState<Found>()
  const { task, attempt, stream } = of
  const { q = '', isRegex = false, isCase = false } = wanted ?? {}
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks again for the same
  useEffect(() => {
    setFound(undefined)
    if (q === '') return
    const ended = new AbortController()
    const now = { q, isRegex, isCase }
    setFound({ wanted: now, matches: [], isAll: false, isUnderWay: true, error: undefined })
    const onFound = (all: Found) => {
      setFound(all)
      return true
    }
    findMatches({ task, attempt, stream }, now, { signal: ended.signal, onFound }).catch((error: Error) => {
      if (!ended.signal.aborted) setFound({ wanted: now, matches: [], isAll: false, isUnderWay: false, error })
    })
    return () => ended.abort()
  }, [task, attempt, stream, q, isRegex, isCase, round])
  return found
}
