import { routes, useCall } from '../api.ts'
import { formatCount } from '../format.ts'
import { Loaded, Panel } from '../parts/panel.tsx'
import { TaskLink } from '../parts/task-link.tsx'
import { RelativeTime } from '../parts/time.tsx'

const SHOWN = 6

/** Who waits the longest for a worker, of each queue and kind. */
export function Lines() {
  const query = useCall(routes.overview.lines)
  return (
    <Panel title="Oldest waiting">
      <Loaded
        query={query}
        isEmpty={({ items }) => items.length === 0}
        empty={<p className="muted">Nothing waits for a worker.</p>}
      >
        {({ items }) => (
          <ul className="lines">
            {items.slice(0, SHOWN).map(({ queue, kind, waiting, is_exact, workers, first }) => (
              <li key={`${queue} ${kind}`}>
                <span className="lines-task">
                  <TaskLink task={first} />
                </span>
                <RelativeTime at={first.ready_at} />
                <span className="lines-about">
                  {kind} in {queue}:{' '}
                  {workers === 0 ? (
                    <strong>{`${formatCount(waiting, is_exact)} ready, no worker`}</strong>
                  ) : (
                    <span>{`${formatCount(waiting, is_exact)} ready, ${workers} ${workers === 1 ? 'worker' : 'workers'}`}</span>
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}
