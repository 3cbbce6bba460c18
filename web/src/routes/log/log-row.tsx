import { type MouseEvent, memo, useState } from 'react'
import { basePath } from '../../base-path.ts'
import { formatBytes, formatDuration, formatInstant } from '../../format.ts'
import type { Pen, Segment } from '../../log/ansi.ts'
import type { LogLine } from '../../log/line-pages.ts'

export type Times = 'off' | 'since' | 'absolute'

export type RowProps = {
  readonly number: number
  /** Undefined while it is fetched. */
  readonly line: LogLine | undefined
  readonly address: string
  readonly rawAddress: string
  readonly isChosen: boolean
  readonly isCurrent: boolean
  readonly ranges: readonly (readonly number[])[] | undefined
  readonly times: Times
  readonly startedAt: number
  /** Of a line that begins a group: whether that is closed. */
  readonly isFolded: boolean | undefined
  readonly onChoose: (line: number, extend: boolean) => void
  readonly onFold: (line: number) => void
}

/** One line of a log. */
export const LogRow = memo(function LogRow(props: RowProps) {
  const { number, line, address, times, startedAt, onChoose } = props
  const choose = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) return
    event.preventDefault()
    onChoose(number, event.shiftKey)
  }
  return (
    <div
      className="log-row"
      data-line={number}
      data-stream={line?.stream}
      data-level={line?.shown.level}
      data-chosen={props.isChosen || undefined}
      data-current={props.isCurrent || undefined}
    >
      <a
        className="log-number"
        href={`${address}#L${number}`}
        tabIndex={-1}
        onClick={choose}
        aria-label={`Line ${number}`}
      >
        {number}
      </a>
      {times !== 'off' && <span className="log-time">{line && timeOf(line.at, times, startedAt)}</span>}
      {line === undefined ? <span className="log-pending" aria-hidden="true" /> : <Text {...props} line={line} />}
    </div>
  )
})

function timeOf(at: string, times: Times, startedAt: number): string {
  const ms = Date.parse(at)
  return times === 'since' ? `+${formatDuration(Math.max(0, ms - startedAt))}` : formatInstant(ms)
}

/** So much of a line is drawn at first: the rest of a very long one only slows the page. */
const DRAWN = 2_000

function Text({ line, rawAddress, ranges, isFolded, onFold }: RowProps & { readonly line: LogLine }) {
  const [isWhole, setWhole] = useState(false)
  const { segments, folded } = line.shown
  const length = segments.reduce((sum, { text }) => sum + text.length, 0)
  const drawn = isWhole || length <= DRAWN ? segments : cut(segments, DRAWN)
  return (
    <span className="log-text" dir="ltr">
      {isFolded !== undefined && (
        <button
          type="button"
          className="log-fold"
          aria-expanded={!isFolded}
          aria-label={isFolded ? 'Open the group' : 'Close the group'}
          onClick={() => onFold(line.number)}
        >
          {isFolded ? '▸' : '▾'}
        </button>
      )}
      {folded > 0 && (
        <span className="log-folded" title={`This line overwrote itself ${folded} times; the last is shown`}>
          ↻{folded}
        </span>
      )}
      {drawn.flatMap((segment) => split(segment, ranges).map((part) => <Part key={part.at} {...part} />))}
      {drawn !== segments && (
        <button type="button" className="log-more" onClick={() => setWhole(true)}>
          … {length - DRAWN} more characters
        </button>
      )}
      {line.is_cut && drawn === segments && (
        <a
          className="log-more"
          href={`${rawAddress}&start=${line.start}&limit=${Math.min(line.length, 16_777_216)}`}
          download
        >
          … this line has {formatBytes(line.length)}: download it
        </a>
      )}
    </span>
  )
}

function cut(segments: readonly Segment[], most: number): Segment[] {
  const kept: Segment[] = []
  let room = most
  for (const segment of segments) {
    if (room <= 0) break
    const text = segment.text.slice(0, room)
    kept.push({ ...segment, text, length: segment.isHidden ? segment.length : text.length })
    room -= text.length
  }
  return kept
}

type Piece = Segment & { readonly isMatch: boolean }

/** The parts of a segment that are matches, and those that are not. */
function split(segment: Segment, ranges: RowProps['ranges']): Piece[] {
  const { at, length, text } = segment
  const inside = (ranges ?? []).filter(([from = 0, to = 0]) => from < at + length && to > at)
  if (inside.length === 0) return [{ ...segment, isMatch: false }]
  if (segment.isHidden) return [{ ...segment, isMatch: true }]
  const pieces: Piece[] = []
  let from = at
  const take = (to: number, isMatch: boolean) => {
    if (to <= from) return
    pieces.push({ ...segment, text: text.slice(from - at, to - at), at: from, length: to - from, isMatch })
    from = to
  }
  for (const [start = 0, end = 0] of inside) {
    take(Math.max(at, start), false)
    take(Math.min(at + length, end), true)
  }
  take(at + length, false)
  return pieces
}

function Part({ text, pen, isMatch, isHidden }: Piece) {
  const look = lookOf(pen)
  const className = [isHidden && 'log-hidden', look.className].filter(Boolean).join(' ') || undefined
  const inner = isMatch ? <mark className="log-match">{text}</mark> : text
  if (pen.href !== undefined) {
    return (
      <a href={pen.href} className={className} style={look.style} target="_blank" rel="noopener noreferrer nofollow">
        {inner}
      </a>
    )
  }
  if (className === undefined && look.style === undefined) return inner
  return (
    <span className={className} style={look.style}>
      {inner}
    </span>
  )
}

function lookOf(pen: Pen): { className: string; style: Record<string, string> | undefined } {
  const [ink, ground] = pen.isReversed ? [pen.ground ?? 'ground', pen.ink ?? 'ink'] : [pen.ink, pen.ground]
  const classes = [
    pen.isBold && 'ansi-bold',
    pen.isDim && 'ansi-dim',
    pen.isItalic && 'ansi-italic',
    pen.isUnderlined && 'ansi-underlined',
    pen.isStruck && 'ansi-struck',
  ]
  const style: Record<string, string> = {}
  if (ink !== undefined) style['color'] = colourOf(ink)
  if (ground !== undefined) style['backgroundColor'] = colourOf(ground)
  return {
    className: classes.filter(Boolean).join(' '),
    style: Object.keys(style).length === 0 ? undefined : style,
  }
}

function colourOf(colour: number | string): string {
  if (typeof colour === 'number') return `var(--ansi-${colour})`
  if (colour === 'ink') return 'var(--ink)'
  return colour === 'ground' ? 'var(--sunken)' : colour
}

/** Where the bytes of a log are. */
export const rawAddressOf = (task: string, attempt: number, stream: string): string =>
  `${basePath}/v1/tasks/${encodeURIComponent(task)}/log?attempt=${attempt}&stream=${stream}`
