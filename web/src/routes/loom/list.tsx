// The loom on a narrow screen: the same revisions as a list, each with a strip of its signs. Many signs are scrolled
// sideways in the box of the list, so that they and their names above move together.
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from '../../parts/link.tsx'
import { lookOf } from '../../parts/state-badge.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { ABSENT, cellStates, stateAt } from './cloth.ts'
import { cellLooks } from './legend.tsx'
import type { Place } from './reach.ts'
import type { LoomSource } from './source.ts'
import { speak } from './speak.ts'
import type { Start } from './use-focus.ts'

const ITEM = 64
const GAP_ITEM = 96

type ListProps = {
  readonly source: LoomSource
  readonly name: string
  readonly order: readonly number[]
  readonly focus: Place | undefined
  readonly start: Start
  readonly gap: (index: number) => ReactNode
  readonly onFocus: (cell: Place) => void
}

export function LoomList({ source, name, order, focus, start, gap, onFocus }: ListProps) {
  const { cloth, first } = source
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 0 })
  const above = cloth.gaps.length * GAP_ITEM
  const oldest = Math.max(first, cloth.planned - 200_000)
  const from = Math.max(0, Math.floor((view.top - above) / ITEM) - 3)
  const to = Math.ceil((view.top + view.height - above) / ITEM) + 3
  const [young, old] = [cloth.planned - from, Math.max(oldest, cloth.planned - to)]
  useEffect(() => {
    if (view.height > 0) source.want({ first: old, last: young })
  }, [source, view.height, old, young])
  const look = () => {
    if (box.current !== null) setView({ top: box.current.scrollTop, height: box.current.clientHeight })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it is first shown, and when the address says another
  useEffect(() => {
    if (box.current === null) return
    box.current.scrollTop = start.number === undefined ? 0 : above + (cloth.planned - start.number - 2) * ITEM
    look()
  }, [start])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is first shown
  useEffect(() => {
    const watcher = new ResizeObserver(look)
    if (box.current !== null) watcher.observe(box.current)
    return () => watcher.disconnect()
  }, [])
  const numbers = Array.from({ length: Math.max(0, young - old + 1) }, (_, i) => young - i).filter((one) => one > 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: it is a box that scrolls, not a set of fields
    <div ref={box} className="loom-list" onScroll={look} tabIndex={0} role="group" aria-label={`Revisions of ${name}`}>
      <Heads source={source} order={order} />
      <ol style={{ height: above + (cloth.planned - oldest + 1) * ITEM }}>
        {[...cloth.gaps].reverse().map((one, i) => (
          <li key={one.first} className="loom-item loom-item-gap" style={{ top: i * GAP_ITEM, height: GAP_ITEM }}>
            {gap(cloth.gaps.length - 1 - i)}
          </li>
        ))}
        {numbers.map((number) => (
          <li
            key={number}
            className="loom-item"
            style={{ top: above + (cloth.planned - number) * ITEM, height: ITEM }}
            data-active={focus?.number === number || undefined}
          >
            <Item source={source} name={name} order={order} number={number} focus={focus} onFocus={onFocus} />
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Above each sign, the name of its task. Those who do not see it hear the name with each sign. */
function Heads({ source: { cloth }, order }: Pick<ListProps, 'source' | 'order'>) {
  return (
    <div className="loom-list-heads" aria-hidden="true">
      {order.map((column) => (
        <span key={column} className="name" title={cloth.columns[column]?.name}>
          {cloth.columns[column]?.name}
        </span>
      ))}
    </div>
  )
}

type ItemProps = Pick<ListProps, 'source' | 'name' | 'order' | 'focus' | 'onFocus'> & { readonly number: number }

function Item({ source, name, order, number, focus, onFocus }: ItemProps) {
  const { cloth } = source
  const row = cloth.rows.get(number)
  return (
    <>
      <div className="loom-item-head">
        <Link to="/archives/$name/r/$rev" params={{ name, rev: String(number) }} className="mono loom-number">
          r{number}
        </Link>
        {row !== undefined && row.problemCount > 0 && <span className="loom-problem">! {row.problemCount}</span>}
        <span className="loom-message name">{row?.message ?? 'loading'}</span>
        <span className="loom-age">{row !== undefined && row.date !== null && <RelativeTime at={row.date} />}</span>
      </div>
      <div className="loom-strip">
        {order.map((column) => {
          const code = stateAt(row, column)
          if (code === ABSENT) return <i key={column} />
          const { glyph, colour } = lookOf(cellLooks, cellStates[code] ?? '')
          return (
            <button
              key={column}
              type="button"
              className={`state-${colour}`}
              aria-label={speak(cloth, { number, column })}
              aria-pressed={focus?.number === number && focus.column === column}
              onClick={() => onFocus({ number, column })}
            >
              {glyph}
            </button>
          )
        })}
      </div>
    </>
  )
}
