// biome-ignore-all lint/a11y/useSemanticElements: a table cannot be drawn in parts, and has no rows that open
// biome-ignore-all lint/a11y/useFocusableInteractive: the treegrid has the focus and names the active row
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the treegrid has the keys
// biome-ignore-all lint/a11y/noStaticElementInteractions: the arrow keys of the treegrid do the same
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { nodeLooks, StateBadge } from '../../parts/state-badge.tsx'
import { Duration } from '../../parts/time.tsx'
import { findByLetters, moveActive } from './move-active.ts'
import type { NodeTree, TreeLine } from './node-tree.ts'
import './tree-grid.css'

type TreeGridProps = {
  readonly tree: NodeTree
  readonly selected: string | undefined
  readonly onSelect: (id: string) => void
}

const INDENT_REM = 1.1
/** Deeper rows are not indented further; they say how deep they are. */
const MOST_INDENT = 10
const LETTERS_MS = 900

/**
 * The rows that are open, of which those in sight are drawn. One element has the focus and names the active row, so that
 * no row needs to stay because it is focused.
 */
export function TreeGrid({ tree, selected, onSelect }: TreeGridProps) {
  const { lines } = useSyncExternalStore(tree.subscribe, () => tree.view)
  const box = useRef<HTMLDivElement>(null)
  const [activeKey, setActiveKey] = useState<string>()
  const letters = useRef({ text: '', at: 0 })
  const lastActive = useRef(0)
  const found = lines.findIndex(({ key }) => key === (activeKey ?? selected))
  // A row that is gone, as "Show more" is when more has come, leaves its place to what stands there now.
  const active = found === -1 ? Math.max(0, Math.min(lastActive.current, lines.length - 1)) : found
  useEffect(() => {
    lastActive.current = active
  })
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => (document.documentElement.dataset['density'] === 'compact' ? 28 : 34),
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 12,
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const first = Math.max(0, startIndex - overscan)
      const last = Math.min(count - 1, endIndex + overscan)
      const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
      // The active row is named by the focused element, so it must be there.
      return active < count && (active < first || active > last) ? [...shown, active].sort((a, b) => a - b) : shown
    },
  })
  const drawn = rows.getVirtualItems()
  const lastDrawn = lines[drawn.at(-1)?.index ?? -1]
  useEffect(() => {
    if (lastDrawn?.is === 'more') void tree.loadMore(lastDrawn.of)
  }, [lastDrawn, tree])

  const goTo = (index: number) => {
    const line = lines[index]
    if (line === undefined) return
    setActiveKey(line.key)
    rows.scrollToIndex(index)
  }
  const activate = (line: TreeLine | undefined) => {
    if (line === undefined) return
    if (line.is === 'node') onSelect(line.key)
    else void tree.loadMore(line.of)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const line = lines[active]
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / 34) - 2)
    const move = moveActive(event.key, lines, active, page)
    if (move !== undefined) {
      if (move.open !== undefined) void tree.open(move.open)
      if (move.close !== undefined) tree.close(move.close)
      if (move.to !== undefined) goTo(move.to)
    } else if (event.key === 'Enter' || event.key === ' ') {
      activate(line)
    } else if (event.key === '*') {
      if (line?.is === 'node') void tree.openBelow(line.key)
    } else if (event.key.length === 1) {
      const isNew = event.timeStamp - letters.current.at > LETTERS_MS
      letters.current = { text: (isNew ? '' : letters.current.text) + event.key, at: event.timeStamp }
      goTo(findByLetters(lines, active, letters.current.text))
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const activeId = lines[active] === undefined ? undefined : domId(lines[active])
  return (
    <div
      ref={box}
      className="tree"
      role="treegrid"
      tabIndex={0}
      aria-label="Nodes"
      aria-rowcount={-1}
      aria-activedescendant={activeId}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => {
        tree.isAtTop = currentTarget.scrollTop < 40
      }}
    >
      <div className="tree-head" role="rowgroup">
        <div role="row" style={{ display: 'contents' }}>
          <span role="columnheader">Node</span>
          <span role="columnheader">State</span>
          <span role="columnheader" className="tree-end tree-minor">
            Exit
          </span>
          <span role="columnheader" className="tree-minor">
            Took
          </span>
        </div>
      </div>
      <div className="tree-body" role="rowgroup" style={{ height: rows.getTotalSize() }}>
        {drawn.map(({ index, start }) => {
          const line = lines[index]
          if (line === undefined) return null
          return (
            <Row
              key={line.key}
              line={line}
              top={start}
              isActive={index === active}
              isSelected={line.key === selected}
              onPress={() => {
                setActiveKey(line.key)
                activate(line)
              }}
              onTwist={() => {
                if (line.is !== 'node') return
                setActiveKey(line.key)
                if (line.isOpen) tree.close(line.key)
                else void tree.open(line.key)
              }}
            />
          )
        })}
      </div>
    </div>
  )
}

const domId = (line: TreeLine) => `tree-${line.key.replace(' ', '-')}`
const indentOf = (level: number) => ({ paddingInlineStart: `${Math.min(level - 1, MOST_INDENT) * INDENT_REM}rem` })

type RowProps = {
  readonly line: TreeLine
  readonly top: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly onPress: () => void
  readonly onTwist: () => void
}

function Row({ line, top, isActive, isSelected, onPress, onTwist }: RowProps) {
  const place = { transform: `translateY(${top}px)` }
  const common = { id: domId(line), className: 'tree-row', style: place, 'data-active': isActive || undefined }
  if (line.is !== 'node') {
    const words = { more: 'Show more', loading: 'Loading …', failed: 'Could not be loaded: try again' }[line.is]
    return (
      <div {...common} role="row" aria-level={line.level} onClick={onPress}>
        <span role="gridcell" className="tree-note" style={indentOf(line.level + 1)}>
          {words}
        </span>
      </div>
    )
  }
  const { row, level, position, size, isOpen, hasChildren } = line
  return (
    <div
      {...common}
      role="row"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={size}
      aria-expanded={hasChildren ? isOpen : undefined}
      aria-selected={isSelected}
      data-state={row.state}
      onClick={onPress}
    >
      <div role="gridcell" className="tree-name" style={indentOf(level)}>
        {hasChildren ? (
          <span
            className="tree-twisty"
            onClick={(event) => {
              event.stopPropagation()
              onTwist()
            }}
          >
            <ChevronRight aria-hidden size={15} />
          </span>
        ) : (
          <span className="tree-twisty" />
        )}
        {level > MOST_INDENT + 1 && <span className="tree-tag">level {level}</span>}
        <span className="tree-summary name" title={row.summary}>
          {row.summary || row.type}
        </span>
        {row.type !== 'command' && <span className="tree-tag tree-minor">{row.type}</span>}
        {row.branch !== null && <span className="tree-tag">{row.branch}</span>}
        {row.run_if !== 'success' && <span className="tree-tag">if {row.run_if}</span>}
        {hasChildren && !isOpen && row.children > 0 && (
          <span className="tree-tag" title={`${row.children} right below`}>
            {row.children >= 1000 ? '1000+' : row.children}
          </span>
        )}
      </div>
      <span role="gridcell">
        <StateBadge look={nodeLooks[row.state]} />
      </span>
      <span role="gridcell" className="tree-end tree-code tree-minor" data-bad={(row.result ?? 0) !== 0 || undefined}>
        {row.result ?? ''}
      </span>
      <span role="gridcell" className="tree-took tree-minor">
        <Duration from={row.started_at} to={row.finished_at} />
      </span>
    </div>
  )
}
