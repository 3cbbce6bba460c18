import { Fragment, type ReactNode, useSyncExternalStore } from 'react'
import { clock } from '../clock.ts'
import {
  formatBriefInstant,
  formatDuration,
  formatInstant,
  formatLasting,
  formatRelative,
  partsWithTimes,
} from '../format.ts'
import { useIsNarrow } from './narrow.ts'
import './time.css'

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

/** For how long something has been so, by the server's clock. */
export function Lasting({ since }: { readonly since: string | number }) {
  const now = useNow()
  return <span title={formatInstant(toMs(since))}>{formatLasting(toMs(since), now)}</span>
}

/** A moment, on one line: in full, or briefly on a phone. */
export function Moment({ at }: { readonly at: string }) {
  const isNarrow = useIsNarrow()
  const ms = toMs(at)
  return (
    <time dateTime={at} className="moment" title={isNarrow ? formatInstant(ms) : undefined}>
      {isNarrow ? formatBriefInstant(ms, clock.now()) : formatInstant(ms)}
    </time>
  )
}

/** A sentence of the server with its times as the person reads them. */
export function WithTimes({ sentence, of }: { readonly sentence: string; readonly of?: (text: string) => ReactNode }) {
  return partsWithTimes(sentence).map(({ text, stamp }, i) =>
    stamp === undefined ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence keep their places
      <Fragment key={i}>{of?.(text) ?? text}</Fragment>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <time key={i} dateTime={stamp}>
        {text}
      </time>
    ),
  )
}

/** How long something took, or takes while it has no end. */
export function Duration({ from, to }: { readonly from: Instant; readonly to: Instant }) {
  const now = useNow()
  if (from === null) return <span className="muted">–</span>
  return <span>{formatDuration((to === null ? now : toMs(to)) - toMs(from))}</span>
}
