import { formatInstant } from '../../format.ts'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { Duration } from '../../parts/time.tsx'
import { movesOf, type Stay, type StoryEntry, staysOf } from '../../tasks/story.ts'
import type { TaskState } from '../../tasks/task-actions.ts'
import { arrowOf, BOX, HEIGHT, places, WIDTH } from './machine-arrows.ts'

/** The usual way; the others are drawn only when they were taken. */
const usual = [
  'waiting>ready',
  'ready>running',
  'running>succeeded',
  'running>failed',
  'running>delayed',
  'delayed>ready',
]

/** The state machine with the way that the task took, and how long it stayed in each state. */
export function StateHistory({ story }: { readonly story: readonly StoryEntry[] }) {
  const stays = staysOf(story)
  const moves = movesOf(stays)
  return (
    <Panel title="States">
      <div className="machine" aria-hidden="true">
        <div className="machine-plane">
          <Arrows moves={moves} />
          {(Object.keys(places) as TaskState[]).map((state) => (
            <Box key={state} state={state} stays={stays} />
          ))}
        </div>
      </div>
      <Strip stays={stays} />
    </Panel>
  )
}

function Box({ state, stays }: { readonly state: TaskState; readonly stays: readonly Stay[] }) {
  const own = stays.filter((stay) => stay.state === state)
  const isNow = stays.at(-1)?.state === state
  const [x, y] = places[state]
  return (
    <div
      className={`machine-state state-${taskLooks[state].colour}`}
      data-seen={own.length > 0 || undefined}
      data-now={isNow || undefined}
      style={{ left: x - BOX.width / 2, top: y - BOX.height / 2, width: BOX.width, height: BOX.height }}
    >
      <StateBadge look={taskLooks[state]} />
      {own.length > 0 && !(isNow && isEnd(state)) && (
        <span className="machine-time">
          <Time stays={own} />
          {own.length > 1 && ` in ${own.length}`}
        </span>
      )}
    </div>
  )
}

const ends: readonly TaskState[] = ['succeeded', 'failed', 'canceled', 'skipped']
const isEnd = (state: TaskState) => ends.includes(state)

/** How long it was in a state, in all; it goes on while it is there. */
function Time({ stays }: { readonly stays: readonly Stay[] }) {
  const over = stays.reduce((sum, { from, to }) => sum + (to === null ? 0 : to - from), 0)
  const now = stays.find(({ to }) => to === null)
  return now === undefined ? <Duration from={0} to={over} /> : <Duration from={now.from - over} to={null} />
}

function Arrows({ moves }: { readonly moves: ReadonlyMap<string, number> }) {
  const all = [...new Set([...usual, ...moves.keys()])]
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} focusable="false">
      <title>States</title>
      <defs>
        {['machine-tip', 'machine-tip-lit'].map((id) => (
          <marker key={id} id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8z" className={id} />
          </marker>
        ))}
      </defs>
      {all.map((move) => {
        const count = moves.get(move) ?? 0
        const { path, label } = arrowOf(move)
        return (
          <g key={move}>
            <path
              d={path}
              className={count > 0 ? 'machine-arrow machine-arrow-lit' : 'machine-arrow'}
              markerEnd={`url(${location.href.split('#')[0]}#${count > 0 ? 'machine-tip-lit' : 'machine-tip'})`}
            />
            {count > 1 && (
              <text x={label.x} y={label.y} textAnchor={label.anchor} className="machine-count">
                ×{count}
              </text>
            )}
          </g>
        )
      })}
    </svg>
  )
}

const SHOWN = 12

/** The same in a row: for phones, and for those who do not see the drawing. */
function Strip({ stays }: { readonly stays: readonly Stay[] }) {
  const shown = stays.slice(-SHOWN)
  return (
    <ol className="machine-strip" aria-label="States, the first one first">
      {stays.length > SHOWN && <li className="muted">{stays.length - SHOWN} before,</li>}
      {shown.map(({ state, from, to }) => (
        <li key={`${from} ${state}`} title={formatInstant(from)}>
          <StateBadge look={taskLooks[state]} />
          {(to !== null || !isEnd(state)) && (
            <span className="machine-strip-time">
              <Duration from={from} to={to} />
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}
