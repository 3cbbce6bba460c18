// The log of one attempt: its lines as they come into view, and what comes while it runs.
import { useEffect, useMemo, useRef, useState } from 'react'
import { call, routes } from '../api.ts'
import { LinePages } from './line-pages.ts'

export type Stream = 'mixed' | 'stdout' | 'stderr'
export type LogOf = { readonly task: string; readonly attempt: number; readonly stream: Stream }

/** While lines come it is asked so often, and ever more seldom while none do. */
const SOON_MS = 300
const SELDOM_MS = 3_000

/** The lines of a log. The next question waits for the answer to the one before, so a slow server or page is not flooded. */
export function useLog({ task, attempt, stream }: LogOf): LinePages {
  const [, setVersion] = useState(0)
  const frame = useRef(0)
  const pages = useMemo(() => {
    // However many answers come, what is shown is drawn once in a frame.
    const onChange = () => {
      if (frame.current !== 0) return
      frame.current = requestAnimationFrame(() => {
        frame.current = 0
        setVersion((version) => version + 1)
      })
    }
    const fetch = (from: number, limit: number, signal: AbortSignal) =>
      call(
        routes.taskLog.lines,
        { params: { id: task }, query: { attempt, stream, from_line: from, limit } },
        { signal },
      )
    return new LinePages({ fetch, onChange })
  }, [task, attempt, stream])
  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current)
      frame.current = 0
      pages.close()
    },
    [pages],
  )
  const isUnderWay = pages.facts !== undefined && !pages.facts.is_complete
  useEffect(() => (isUnderWay ? keepAsking(pages) : undefined), [pages, isUnderWay])
  return pages
}

function keepAsking(pages: LinePages): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  let waitMs = SOON_MS
  const again = () => {
    if (!isOver) timer = setTimeout(() => void ask(), waitMs)
  }
  const ask = async () => {
    // Nobody looks: it is asked when somebody does.
    if (document.hidden) return document.addEventListener('visibilitychange', () => void ask(), { once: true })
    try {
      waitMs = (await pages.poll()) ? SOON_MS : Math.min(SELDOM_MS, waitMs * 1.5)
    } catch {
      waitMs = SELDOM_MS
    }
    again()
  }
  again()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
