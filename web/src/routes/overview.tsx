import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useRef } from 'react'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { formatCount } from '../format.ts'
import { useFresh } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Loading, Panel } from '../parts/panel.tsx'
import { StateBadge, taskLooks } from '../parts/state-badge.tsx'
import { NeedsAttention } from './overview-attention.tsx'
import { Faces } from './overview-faces.tsx'
import { Lines } from './overview-lines.tsx'
import './overview.css'

type Counts = BodyAnswered<typeof routes.tasks.counts>

const FirstRun = lazy(async () => ({ default: (await import('./overview-first-run.tsx')).FirstRun }))
const Charts = lazy(async () => ({ default: (await import('./overview-charts.tsx')).Charts }))

/** What needs somebody, how things go, and how much there is of everything. */
export function Overview() {
  const counts = useCall(routes.tasks.counts)
  const archives = useCall(routes.archives.list, { query: { limit: 100 } })
  const { range } = getRouteApi('/shell/').useSearch()
  useFresh(['*'], ['tasks.counts', 'archives.list', 'overview.lines', 'workers.list'])
  const isFirst = useIsFirstRun(counts.data, archives.data?.items.length)
  if (isFirst)
    return (
      <Suspense fallback={<Loading />}>
        <FirstRun counts={counts.data} archives={archives.data?.items ?? []} />
      </Suspense>
    )
  return (
    <Page title="Overview">
      <Loaded query={counts}>{(data) => <StateCounts counts={data} />}</Loaded>
      <div className="overview-columns">
        <NeedsAttention />
        <div className="stack overview-column">
          <Faces archives={archives} counts={counts.data} />
          <Lines />
        </div>
      </div>
      <Suspense
        fallback={
          <Panel title="Throughput">
            <Loading />
          </Panel>
        }
      >
        <Charts range={range} />
      </Suspense>
    </Page>
  )
}

/** Nothing was ever done here. Who has seen the first steps keeps them while they are done, and is not torn away. */
function useIsFirstRun(counts: Counts | undefined, archives: number | undefined): boolean {
  const wasFirst = useRef(false)
  if (counts !== undefined && archives !== undefined) {
    const isEmpty = archives === 0 && Object.values(counts.states).every(({ count }) => count === 0)
    wasFirst.current ||= isEmpty
  }
  return wasFirst.current
}

const inOrder = Object.keys(taskLooks) as (keyof typeof taskLooks)[]

function StateCounts({ counts }: { readonly counts: Counts }) {
  return (
    <ul className="counts" aria-label="Tasks by state">
      {inOrder.map((state) => {
        const { count, is_exact } = counts.states[state] ?? { count: 0, is_exact: true }
        return (
          <li key={state}>
            <Link to="/tasks" search={{ q: `state:${state}` }} className="count" data-none={count === 0 || undefined}>
              <span className="count-number">{formatCount(count, is_exact)}</span>
              <StateBadge look={taskLooks[state]} />
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
