import { useEffect, useRef, useState } from 'react'
import { type LiveEvent, useHeard } from '../live.ts'

/** So often at the most somebody who listens to the page is told what happened. */
const EVERY_MS = 5_000

const ENDS: Readonly<Record<string, string>> = {
  succeeded: 'finished',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
}

/** Tells those who do not see the page how many of the tasks that it shows have ended: `3 finished, 1 failed`. */
export function Announcer() {
  const counts = useRef(new Map<string, number>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [text, setText] = useState('')
  const hear = (events: readonly LiveEvent[]) => {
    for (const { to, from } of events) {
      const word = to === null || to === from ? undefined : ENDS[to]
      if (word !== undefined) counts.current.set(word, (counts.current.get(word) ?? 0) + 1)
    }
    if (counts.current.size === 0) return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setText([...counts.current].map(([word, count]) => `${count} ${word}`).join(', '))
      counts.current.clear()
    }, EVERY_MS)
  }
  useHeard(hear)
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <p className="visually-hidden" role="status" aria-label="What happened">
      {text}
    </p>
  )
}
