import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { formatCount } from '../../format.ts'
import type { Match } from '../../log/find-matches.ts'
import { type Fold, Folding } from '../../log/folds.ts'
import type { LinePages } from '../../log/line-pages.ts'
import type { LineRange } from '../../log/permalink.ts'
import { Button } from '../../parts/button.tsx'
import { arriveAt } from './arrive.ts'
import { LogMap } from './log-map.tsx'
import { LogRow, type RowProps, type Times } from './log-row.tsx'

/** Browsers do not draw boxes that are much higher than so many rows of 20 px. */
const MOST_ROWS = 1_000_000
const ROW_PX = 20
const NEAR_END_PX = 3 * ROW_PX

export type Jump = { readonly line: number; readonly round: number }

type LinesProps = Pick<RowProps, 'address' | 'rawAddress' | 'startedAt' | 'onChoose'> & {
  readonly pages: LinePages
  readonly label: string
  readonly folds: readonly Fold[]
  readonly onFold: (line: number) => void
  readonly chosen: LineRange | undefined
  readonly matches: readonly Match[]
  readonly current: number | undefined
  /** Where to go; a new round goes there again. */
  readonly jump: Jump | undefined
  readonly onGo: (line: number) => void
  readonly isFollowing: boolean
  readonly onFollow: (isFollowing: boolean) => void
  readonly times: Times
  readonly isWrapped: boolean
}

/** The lines of a log that are in view, in a box that scrolls through all of them. */
export function LogLines(props: LinesProps) {
  const { pages, folds, isWrapped, isFollowing, jump } = props
  const box = useRef<HTMLDivElement>(null)
  const folding = useMemo(() => new Folding(folds), [folds])
  const total = pages.facts?.total_lines ?? 0
  const [part, setPart] = useState(0)
  const rows = folding.rows(total)
  const count = Math.min(MOST_ROWS, Math.max(0, rows - part * MOST_ROWS))
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    // Drawn with the scrolling, not in a task after it: rows would flash white.
    useFlushSync: false,
  })
  const items = virtual.getVirtualItems()
  const lineOf = (index: number) => folding.line(part * MOST_ROWS + index + 1)
  const [first, last] = [lineOf(items[0]?.index ?? 0), lineOf(items.at(-1)?.index ?? 0)]
  useEffect(() => {
    if (total > 0) pages.show(first, last)
  }, [pages, first, last, total])

  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are measured anew when they are drawn otherwise
  useLayoutEffect(() => virtual.measure(), [isWrapped, virtual])

  const wanted = jump === undefined ? undefined : folding.row(Math.min(Math.max(1, jump.line), Math.max(1, total))) - 1
  const round = jump?.round
  // One goes there once: whoever has gone on to another part since then is not fetched back.
  const served = useRef<number>(undefined)
  const leave = useRef(() => {})
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes there when it is told to, not when lines come
  useEffect(() => {
    if (wanted === undefined || served.current === round) return
    const wantedPart = Math.floor(wanted / MOST_ROWS)
    // The rows of another part are there when it is drawn.
    if (wantedPart !== part) return setPart(wantedPart)
    served.current = round
    if (wanted < rows - 1) props.onFollow(false)
    leave.current()
    const goal = { row: wanted - part * MOST_ROWS, isDrawn: () => pages.line(folding.line(wanted + 1)) !== undefined }
    if (box.current !== null) leave.current = arriveAt(virtual, box.current, goal)
  }, [round, part])
  useEffect(() => {
    if (isFollowing) leave.current()
  }, [isFollowing])
  useEffect(() => () => leave.current(), [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: it stays at the end whenever there is more
  useEffect(() => {
    // A jump that is not served yet comes first: the scroll event that says "at the end" may be of the part before.
    if (!isFollowing || rows === 0 || (round !== undefined && served.current !== round)) return
    const lastPart = Math.floor((rows - 1) / MOST_ROWS)
    if (lastPart !== part) setPart(lastPart)
    virtual.scrollToIndex(rows - lastPart * MOST_ROWS - 1, { align: 'end' })
  }, [isFollowing, rows, part, isWrapped])

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current ?? { scrollTop: 0, scrollHeight: 0, clientHeight: 0 }
    if (round !== undefined && served.current !== round) return
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX && (part + 1) * MOST_ROWS >= rows
    if (isAtEnd !== isFollowing) props.onFollow(isAtEnd)
  }
  const ranges = useMemo(() => new Map(props.matches.map((match) => [match.number, match.ranges])), [props.matches])
  return (
    <div className="log-frame">
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well */}
      <div
        ref={box}
        className={isWrapped ? 'log-box log-wrapped' : 'log-box'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        role="group"
        aria-label={props.label}
        onScroll={onScroll}
      >
        <div className="log-all" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const number = lineOf(index)
            return (
              <div
                key={key}
                className="log-place"
                data-index={index}
                ref={isWrapped ? virtual.measureElement : undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Line {...props} number={number} ranges={ranges.get(number)} />
              </div>
            )
          })}
        </div>
      </div>
      <LogMap pages={pages} matches={props.matches} onGo={props.onGo} />
      <NewLines
        total={total}
        isFollowing={isFollowing}
        isComplete={pages.facts?.is_complete ?? true}
        onFollow={props.onFollow}
      />
      {rows > MOST_ROWS && <Parts part={part} rows={rows} onRow={(row) => props.onGo(folding.line(row))} />}
    </div>
  )
}

type LineProps = LinesProps & { readonly number: number; readonly ranges: Match['ranges'] | undefined }

function Line({ number, pages, folds, chosen, ranges, current, ...row }: LineProps) {
  const line = pages.line(number)
  const isTitle = line?.shown.marks.at(-1)?.is === 'start'
  return (
    <LogRow
      number={number}
      line={line}
      address={row.address}
      rawAddress={row.rawAddress}
      times={row.times}
      startedAt={row.startedAt}
      onChoose={row.onChoose}
      onFold={row.onFold}
      ranges={ranges}
      isChosen={chosen !== undefined && number >= chosen.from && number <= chosen.to}
      isCurrent={current === number}
      isFolded={isTitle ? folds.some(({ from }) => from === number + 1) : undefined}
    />
  )
}

type NewLinesProps = Pick<LinesProps, 'isFollowing' | 'onFollow'> & {
  readonly total: number
  readonly isComplete: boolean
}

/** Says what has come below while somebody reads above. */
function NewLines({ total, isFollowing, isComplete, onFollow }: NewLinesProps) {
  const seen = useRef(total)
  if (isFollowing || seen.current === 0) seen.current = total
  const fresh = total - seen.current
  if (isFollowing || (fresh === 0 && isComplete)) return null
  return (
    <div className="log-new">
      <Button icon={ArrowDown} kind={fresh === 0 ? 'plain' : 'primary'} onClick={() => onFollow(true)}>
        {fresh === 0 ? 'Follow' : `${formatCount(fresh)} new ${fresh === 1 ? 'line' : 'lines'}`}
      </Button>
    </div>
  )
}

/** Goes on where the part that is shown begins or ends. */
function Parts({ part, rows, onRow }: { part: number; rows: number; onRow: (row: number) => void }) {
  const last = Math.floor((rows - 1) / MOST_ROWS)
  const [from, to] = [part * MOST_ROWS + 1, Math.min(rows, (part + 1) * MOST_ROWS)]
  return (
    <p className="log-parts row">
      Lines {formatCount(from)} to {formatCount(to)} of {formatCount(rows)}
      <Button refusal={part === 0 ? 'This is the beginning' : undefined} onClick={() => onRow(from - 1)}>
        Before
      </Button>
      <Button refusal={part === last ? 'This is the end' : undefined} onClick={() => onRow(to + 1)}>
        After
      </Button>
    </p>
  )
}
