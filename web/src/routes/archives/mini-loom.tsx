import type { ArchiveItem } from '../archives.tsx'

type Revisions = NonNullable<ArchiveItem['frontier']>['revisions']
type State = Revisions[number]['state']

const STEP = 7
const WIDTH = 5
const HEIGHT = 22
const SHOWN = 30

/** Pieces of a bar, from the top: a shape for each state, so that it is told without colour. */
const bars: Readonly<
  Record<State, { readonly colour: string; readonly pieces: readonly (readonly [y: number, height: number])[] }>
> = {
  planned: { colour: 'waiting', pieces: [[18, 4]] },
  running: { colour: 'running', pieces: [[11, 11]] },
  succeeded: { colour: 'succeeded', pieces: [[0, 22]] },
  failed: {
    colour: 'failed',
    pieces: [
      [0, 9],
      [13, 9],
    ],
  },
  canceled: {
    colour: 'canceled',
    pieces: [
      [0, 5],
      [8, 6],
      [17, 5],
    ],
  },
  broken: {
    colour: 'failed',
    pieces: [
      [0, 14],
      [18, 4],
    ],
  },
}

const tell = (revisions: Revisions): string => {
  const counts = new Map<State, number>()
  for (const { state } of revisions) counts.set(state, (counts.get(state) ?? 0) + 1)
  const told = [...counts].map(([state, count]) => `${count} ${state}`)
  return revisions.length === 0 ? 'no revisions' : `the last ${revisions.length} revisions: ${told.join(', ')}`
}

/** The last thirty revisions in a line, the youngest on the right. */
export function MiniLoom({ name, revisions }: { readonly name: string; readonly revisions: Revisions }) {
  const shown = [...revisions].reverse()
  const from = SHOWN - shown.length
  return (
    <svg
      className="archives-mini"
      viewBox={`0 0 ${SHOWN * STEP} ${HEIGHT}`}
      width={SHOWN * STEP}
      height={HEIGHT}
      role="img"
      aria-label={`${name}, ${tell(revisions)}`}
    >
      {shown.map(({ number, state }, i) => (
        <g key={number} className={`state-${bars[state].colour}`}>
          <title>
            r{number} {state}
          </title>
          {bars[state].pieces.map(([y, height]) => (
            <rect key={y} x={(from + i) * STEP + 1} y={y} width={WIDTH} height={height} rx={1} />
          ))}
        </g>
      ))}
    </svg>
  )
}
