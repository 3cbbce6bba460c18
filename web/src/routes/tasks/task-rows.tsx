import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useKeys } from '../../keys.ts'
import { Breakable } from '../../parts/breakable.tsx'
import { Link } from '../../parts/link.tsx'
import { StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { Duration, RelativeTime } from '../../parts/time.tsx'
import { listedName, nameOfTask } from '../../tasks/task-name.ts'
import type { TaskRow } from './task-changes.ts'

const ROW_PX = 36

type TaskRowsProps = {
  readonly rows: readonly TaskRow[]
  readonly chosen: ReadonlySet<string>
  readonly onChosen: (chosen: ReadonlySet<string>) => void
  readonly hasMore: boolean
  readonly onMore: () => void
}

/** Rows of tasks, as many as are in view; the keys go through them. */
export function TaskRows({ rows, chosen, onChosen, hasMore, onMore }: TaskRowsProps) {
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(-1)
  const [anchor, setAnchor] = useState(0)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(box.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 10,
    scrollMargin: top,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= rows.length - 20) onMore()
  }, [hasMore, last, rows.length, onMore])

  const goTo = (index: number) => {
    const row = rows[index]
    if (row === undefined) return
    setAt(index)
    virtual.scrollToIndex(index, { align: 'auto' })
    focusRow(box.current, row.id)
  }
  const toggle = (index: number, isRange: boolean) => {
    if (index < 0) return
    const [from, to] = isRange ? [Math.min(anchor, index), Math.max(anchor, index)] : [index, index]
    const ids = rows.slice(from, to + 1).map(({ id }) => id)
    const next = new Set(chosen)
    const isOn = isRange || !chosen.has(rows[index]?.id ?? '')
    for (const id of ids) {
      if (isOn) next.add(id)
      else next.delete(id)
    }
    setAnchor(index)
    onChosen(next)
  }
  const failure = (by: 1 | -1) => {
    const isFailed = (row: TaskRow) => row.state === 'failed'
    const found =
      by === 1
        ? rows.findIndex((row, i) => i > at && isFailed(row))
        : rows.findLastIndex((row, i) => i < at && isFailed(row))
    if (found >= 0) goTo(found)
  }
  const step = (by: 1 | -1, isRange = false) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + by))
    if (isRange) toggle(next, true)
    goTo(next)
  }
  useKeys(
    [
      { key: 'j', label: 'Next row', run: () => step(1), isMove: true },
      { key: 'k', label: 'Row before', run: () => step(-1), isMove: true },
      { key: 'J', label: 'Select down to the next row', run: () => step(1, true), isMove: true },
      { key: 'K', label: 'Select up to the row before', run: () => step(-1, true), isMove: true },
      { key: 'x', label: 'Select the row', run: () => toggle(at, false), isMove: true },
      { key: 'X', label: 'Select up to the row', run: () => toggle(at, true), isMove: true },
      { key: 'n', label: 'Next failure', run: () => failure(1), isMove: true },
      { key: 'p', label: 'Failure before', run: () => failure(-1), isMove: true },
      { key: 'Escape', label: 'Select nothing', run: () => onChosen(new Set()), isMove: true },
    ],
    'Tasks',
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a real table cannot be placed one by one
    <div className="tasks" role="table" aria-label="Tasks" aria-rowcount={hasMore ? -1 : rows.length + 1}>
      <Head />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div ref={box} className="tasks-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          const onSelect = (event: MouseEvent) => {
            setAt(index)
            toggle(index, event.shiftKey)
          }
          return (
            <Row
              key={row.id}
              row={row}
              index={index}
              top={start - top}
              isChosen={chosen.has(row.id)}
              isCurrent={index === at}
              onSelect={onSelect}
            />
          )
        })}
      </div>
    </div>
  )
}

/** The row may be drawn only after the scrolling. */
function focusRow(box: HTMLElement | null, id: string, tries = 10): void {
  const link = box?.querySelector<HTMLElement>(`[data-task="${id}"] a`)
  if (link) link.focus({ preventScroll: true })
  else if (tries > 0) requestAnimationFrame(() => focusRow(box, id, tries - 1))
}

function Head() {
  const heads = ['State', 'Task', 'Kind', 'Queue', 'Took', 'Added']
  return (
    // biome-ignore lint/a11y/useSemanticElements: as below
    <div className="tasks-row tasks-head" role="row" tabIndex={-1}>
      {/* biome-ignore lint/a11y/useSemanticElements: rows of a real table cannot be placed one by one */}
      <span role="columnheader" tabIndex={-1}>
        <span className="visually-hidden">Selected</span>
      </span>
      {heads.map((head) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        <span key={head} role="columnheader" tabIndex={-1}>
          {head}
        </span>
      ))}
    </div>
  )
}

type RowProps = {
  readonly row: TaskRow
  readonly index: number
  readonly top: number
  readonly isChosen: boolean
  readonly isCurrent: boolean
  readonly onSelect: (event: MouseEvent) => void
}

function Row({ row, index, top, isChosen, isCurrent, onSelect }: RowProps) {
  const name = nameOfTask(row)
  const cells = [
    <StateBadge key="state" look={taskLooks[row.state]} />,
    <Link key="task" to="/tasks/$id" params={{ id: row.id }} className="mono name tasks-name" title={name}>
      <Breakable text={listedName(row)} />
    </Link>,
    row.kind ?? <span className="muted">milestone</span>,
    row.queue ?? '',
    <Duration key="took" from={row.started_at} to={row.finished_at} />,
    <RelativeTime key="added" at={row.created_at} />,
  ]
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a real table cannot be placed one by one
    <div
      className="tasks-row"
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      data-task={row.id}
      data-chosen={isChosen || undefined}
      data-current={isCurrent || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <span role="cell">
        <input type="checkbox" aria-label={`Select ${name}`} checked={isChosen} onClick={onSelect} readOnly />
      </span>
      {cells.map((cell, i) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their places
        <span key={i} role="cell">
          {cell}
        </span>
      ))}
    </div>
  )
}
