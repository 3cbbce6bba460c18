import { useSyncExternalStore } from 'react'
import { clock } from '../clock.ts'
import { formatDuration, formatInstant, formatRelative } from '../format.ts'

// One timer for all times on the page: they change together, and nothing ticks when none is shown.
const watchers = new Set<() => void>()
let ticks = 0
let timer: ReturnType<typeof setInterval> | undefined

function watch(onChange: () => void) {
  watchers.add(onChange)
  timer ??= setInterval(() => {
    ticks += 1
    for (const tell of watchers) tell()
  }, 1_000)
  return () => {
    watchers.delete(onChange)
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The server's time, and again each second. */
export function useNow(): number {
  useSyncExternalStore(watch, () => ticks)
  return clock.now()
}

type Instant = string | number | null

const toMs = (at: string | number) => (typeof at === 'number' ? at : Date.parse(at))

/** How long ago something was, by the server's clock; the whole time when pointed at. */
export function RelativeTime({ at, isLocal = false }: { readonly at: Instant; readonly isLocal?: boolean }) {
  const now = useNow()
  if (at === null) return <span className="muted">never</span>
  const ms = toMs(at)
  const iso = Number.isFinite(ms) ? new Date(ms).toISOString() : undefined
  return (
    <time dateTime={iso} title={formatInstant(ms)}>
      {formatRelative(ms, isLocal ? now - clock.offset : now)}
    </time>
  )
}

/** How long something took, or takes while it has no end. */
export function Duration({ from, to }: { readonly from: Instant; readonly to: Instant }) {
  const now = useNow()
  if (from === null) return <span className="muted">–</span>
  return <span>{formatDuration((to === null ? now : toMs(to)) - toMs(from))}</span>
}
