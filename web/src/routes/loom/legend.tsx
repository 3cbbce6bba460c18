import { lookOf, StateBadge, type StateLook, taskLooks } from '../../parts/state-badge.tsx'
import type { CellState } from './cloth.ts'
import { keyHelp } from './keys.ts'

/** How the states of cells look: those of tasks, and superseded. */
export const cellLooks: Readonly<Record<CellState, StateLook>> = {
  ...taskLooks,
  superseded: { glyph: '⊘', word: 'superseded', colour: 'canceled' },
}

const shown: readonly CellState[] = [
  'succeeded',
  'running',
  'waiting',
  'ready',
  'delayed',
  'failed',
  'superseded',
  'skipped',
  'held',
]

export function Legend() {
  return (
    <div className="loom-legend">
      {shown.map((state) => (
        <StateBadge key={state} look={lookOf(cellLooks, state)} />
      ))}
      <span>╌ cancels</span>
      <span>━ frontier</span>
      <span>≠ workflows changed</span>
    </div>
  )
}

export function KeyHelp() {
  return (
    <aside className="loom-rail loom-help" aria-label="Keys">
      <h2>Point at a cell</h2>
      <p className="muted">What it waits for and what waits for it lights up, and here stands why.</p>
      <dl className="loom-keys">
        {keyHelp.map(([keys, does]) => (
          <div key={keys} style={{ display: 'contents' }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </aside>
  )
}
