import { type BodyAnswered, routes, useCall } from '../api.ts'
import { formatCount } from '../format.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, taskLooks } from '../parts/state-badge.tsx'
import { TaskTable } from '../parts/task-table.tsx'
import './overview.css'

type Counts = BodyAnswered<typeof routes.tasks.counts>

/** What needs somebody, and how much there is of everything. */
export function Overview() {
  const counts = useCall(routes.tasks.counts)
  const failed = useCall(routes.tasks.list, { query: { state: 'failed', limit: 10 } })
  useFresh(['*'], ['tasks.counts', 'tasks.list'])
  return (
    <Page title="Overview">
      <Loaded query={counts}>{(data) => <StateCounts counts={data} />}</Loaded>
      <Panel title="Failed" isFlush>
        <Loaded
          query={failed}
          isEmpty={({ items }) => items.length === 0}
          empty={<EmptyState title="Nothing has failed">What fails shows up here, the newest first.</EmptyState>}
        >
          {({ items }) => <TaskTable label="Tasks that failed" tasks={items} />}
        </Loaded>
      </Panel>
    </Page>
  )
}

const inOrder = Object.keys(taskLooks) as (keyof typeof taskLooks)[]

function StateCounts({ counts }: { readonly counts: Counts }) {
  return (
    <ul className="counts" aria-label="Tasks by state">
      {inOrder.map((state) => {
        const { count, is_exact } = counts.states[state] ?? { count: 0, is_exact: true }
        return (
          <li key={state}>
            <Link to="/tasks" search={{ q: `state:${state}` }} className="count">
              <span className="count-number">{formatCount(count, is_exact)}</span>
              <StateBadge look={taskLooks[state]} />
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
