// The same as the canvas shows, as a grid: only what is in view, with one cell that can be focused.
import { memo, type ReactNode, type Ref, useEffect, useRef } from 'react'
import { Link } from '../../parts/link.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import type { BoardProps } from './board.tsx'
import { ABSENT, type Cloth, type Row } from './cloth.ts'
import type { Reached } from './frontier.ts'
import { GAP, type Layout, ROW, type Window, xOf, yOf } from './layout.ts'
import { keyOf } from './reach.ts'
import { speak } from './speak.ts'

type GridProps = BoardProps & {
  readonly ref: Ref<HTMLDivElement>
  readonly at: Layout
  readonly window: Window
  readonly reached: readonly Reached[]
  readonly rowCount: number
  readonly version: number
}

export function Grid(props: GridProps) {
  const { source, name, order, at, window, focus, chosen, spoken, gap, rowCount, version } = props
  const { cloth } = source
  const gaps = [...cloth.gaps].reverse()
  const numbers = numbersOf(window, focus?.number, at)
  const active = focus ?? { number: at.top, column: order[0] ?? 0 }
  const grid = useRef<HTMLDivElement>(null)
  const key = focus === undefined ? undefined : keyOf(focus)
  // Whoever walks with the keyboard takes the focus along; whoever points or reads elsewhere keeps theirs.
  useEffect(() => {
    if (key === undefined || !grid.current?.contains(document.activeElement)) return
    grid.current.querySelector<HTMLElement>('[data-active]')?.focus({ preventScroll: true })
  }, [key])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table of thousands of rows of which some dozens are there
    <div
      ref={grid}
      role="grid"
      aria-label={`Revisions of ${name} by tasks`}
      aria-rowcount={rowCount + gaps.length + 1}
      aria-colcount={order.length + 1}
      aria-multiselectable="true"
      className="loom-grid"
    >
      <Head cloth={cloth} order={order} at={at} window={window} reached={props.reached} />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div ref={props.ref} role="rowgroup" className="loom-rows">
        {gaps.map((one, i) => (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: what can be focused in it are its buttons
          <div
            key={`${one.reason} ${one.first}`}
            role="row"
            aria-rowindex={i + 2}
            className={`loom-gap loom-gap-${one.reason}`}
            style={{ top: at.head + i * GAP, height: GAP }}
          >
            {gap(cloth.gaps.length - 1 - i)}
          </div>
        ))}
        {numbers.map((number) => (
          <GridRow
            key={number}
            name={name}
            cloth={cloth}
            row={cloth.rows.get(number)}
            number={number}
            version={version}
            order={order}
            at={at}
            firstPlace={window.firstPlace}
            lastPlace={window.lastPlace}
            index={at.top - number + gaps.length + 2}
            activeColumn={active.number === number ? active.column : undefined}
            chosen={chosen}
            spoken={active.number === number ? spoken : undefined}
          />
        ))}
      </div>
    </div>
  )
}

/** Those in view, and the one with the focus wherever it is: an element that goes would take the focus with it. */
function numbersOf(window: Window, focused: number | undefined, at: Layout): readonly number[] {
  const numbers: number[] = []
  for (let number = window.youngest; number >= window.oldest; number -= 1) if (number > 0) numbers.push(number)
  const isOutside = focused !== undefined && (focused > window.youngest || focused < window.oldest)
  if (isOutside && focused <= at.top && focused >= at.bottom) numbers.push(focused)
  return numbers
}

type HeadProps = {
  readonly cloth: Cloth
  readonly order: readonly number[]
  readonly at: Layout
  readonly window: Window
  readonly reached: readonly Reached[]
}

function Head({ cloth, order, at, window, reached }: HeadProps) {
  const top = cloth.rows.get(cloth.planned)
  const shown = order.slice(window.firstPlace, window.lastPlace + 1)
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the grid
    // biome-ignore lint/a11y/useFocusableInteractive: nothing is done with a head
    <div
      role="row"
      aria-rowindex={1}
      className={at.isSlanted ? 'loom-head loom-head-slanted' : 'loom-head'}
      style={{ height: at.head }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as the grid */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: nothing is done with a head */}
      <div role="columnheader" aria-colindex={1} className="loom-corner" style={{ width: at.side }}>
        Revision
      </div>
      {shown.map((column, i) => {
        const place = window.firstPlace + i
        const name = cloth.columns[column]?.name ?? ''
        const lag = reached[place]?.behind ?? 0
        const isAway = top !== undefined && top.problemCount === 0 && (top.states[column] ?? ABSENT) === ABSENT
        return (
          // biome-ignore lint/a11y/useSemanticElements: as the grid
          // biome-ignore lint/a11y/useFocusableInteractive: nothing is done with a head
          <div
            key={column}
            role="columnheader"
            aria-colindex={place + 2}
            className={isAway ? 'loom-column loom-column-away' : 'loom-column'}
            style={{
              left: at.isSlanted ? xOf(at, place) : xOf(at, place) - at.columnWidth / 2,
              ...(at.isSlanted ? {} : { width: at.columnWidth }),
            }}
            title={columnTitle(name, cloth.columns[column]?.workflow ?? null, lag, isAway)}
          >
            <span className="loom-column-name name">{name}</span>
            {lag > 0 && <span className="loom-lag">−{lag}</span>}
          </div>
        )
      })}
    </div>
  )
}

function columnTitle(name: string, workflow: string | null, lag: number, isAway: boolean): string {
  const of = workflow === null ? '' : ` of ${workflow}`
  const behind = lag === 0 ? '' : `, ${lag} ${lag === 1 ? 'revision' : 'revisions'} behind`
  return `${name}${of}${behind}${isAway ? ', not in the newest revision' : ''}`
}

type RowProps = {
  readonly name: string
  readonly cloth: Cloth
  readonly row: Row | undefined
  readonly number: number
  readonly version: number
  readonly order: readonly number[]
  readonly at: Layout
  readonly firstPlace: number
  readonly lastPlace: number
  readonly index: number
  readonly activeColumn: number | undefined
  readonly chosen: BoardProps['chosen']
  readonly spoken: string | undefined
}

const GridRow = memo(function GridRow(props: RowProps) {
  const { name, cloth, row, number, order, at, firstPlace, lastPlace, index, activeColumn, chosen, spoken } = props
  const cells: ReactNode[] = []
  const active = activeColumn === undefined ? -2 : activeColumn < 0 ? -1 : order.indexOf(activeColumn)
  const places = new Set(Array.from({ length: Math.max(0, lastPlace - firstPlace + 1) }, (_, i) => firstPlace + i))
  if (active >= 0) places.add(active)
  for (const place of [...places].sort((a, b) => a - b)) {
    const column = order[place] ?? 0
    const isActive = place === active
    const label = (isActive ? spoken : undefined) ?? speak(cloth, { number, column })
    cells.push(
      // biome-ignore lint/a11y/useSemanticElements: as the grid
      <div
        key={column}
        role="gridcell"
        aria-colindex={place + 2}
        aria-label={label}
        aria-selected={chosen.has(keyOf({ number, column }))}
        tabIndex={isActive ? 0 : -1}
        data-active={isActive || undefined}
        className="loom-cell"
        style={{ left: xOf(at, place) - 14 }}
      />,
    )
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the grid
    // biome-ignore lint/a11y/useFocusableInteractive: its cells can be focused
    <div role="row" aria-rowindex={index} className="loom-row" style={{ top: yOf(at, number), height: ROW }}>
      <Side name={name} cloth={cloth} row={row} number={number} width={at.side} isActive={active === -1} />
      {cells}
    </div>
  )
})

type SideProps = {
  readonly name: string
  readonly cloth: Cloth
  readonly row: Row | undefined
  readonly number: number
  readonly width: number
  readonly isActive: boolean
}

/** The revision itself: number, message, author, age, and what is wrong with it. */
function Side({ name, cloth, row, number, width, isActive }: SideProps) {
  const below = cloth.rows.get(number - 1)
  const isChanged =
    row !== undefined && below !== undefined && below.definition !== '' && row.definition !== below.definition
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the grid
    <div
      role="rowheader"
      aria-colindex={1}
      className="loom-side"
      style={{ width }}
      tabIndex={isActive ? 0 : -1}
      data-active={isActive || undefined}
    >
      <Link
        to="/archives/$name/r/$rev"
        params={{ name, rev: String(number) }}
        className="mono loom-number"
        tabIndex={-1}
      >
        r{number}
      </Link>
      {row !== undefined && row.problemCount > 0 && (
        <span className="loom-problem" title={`Its workflow files have ${row.problemCount} problems`}>
          ! {row.problemCount}
          <span className="visually-hidden"> problems</span>
        </span>
      )}
      {isChanged && (
        <span className="loom-changed" title="The workflow files are others than at the revision below">
          ≠<span className="visually-hidden"> workflows changed</span>
        </span>
      )}
      <span className="loom-message name" title={row?.message}>
        {row === undefined ? 'loading' : row.message}
      </span>
      <span className="loom-author name">{row?.author ?? ''}</span>
      <span className="loom-age">{row !== undefined && row.date !== null && <RelativeTime at={row.date} />}</span>
    </div>
  )
}
