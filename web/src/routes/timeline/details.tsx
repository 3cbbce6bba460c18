import { useQuery } from '@tanstack/react-query'
import { queryOf, routes } from '../../api.ts'
import { formatDuration } from '../../format.ts'
import { StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { TaskLink } from '../../parts/task-link.tsx'
import type { Typical } from './chart.tsx'
import { type Item, sumsOf } from './rows-of.ts'

/** How long tasks like the one that is looked at usually run. Asked for once each. */
export function useTypical(item: Item | undefined): { bracket: Typical | undefined; words: string | undefined } {
  const { data } = useQuery({
    ...queryOf(routes.tasks.typical, { params: { id: item?.id ?? '0' } }),
    enabled: item !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (item === undefined || data === undefined) return { bracket: undefined, words: undefined }
  const { p10_ms: p10, median_ms: median, p90_ms: p90 } = data
  if (p10 === null || median === null || p90 === null)
    return { bracket: undefined, words: 'too few have succeeded to say' }
  const words = `${formatDuration(median)} (${formatDuration(p10)} to ${formatDuration(p90)})`
  return { bracket: { task: item.id, p10, p90 }, words }
}

type DetailsProps = {
  readonly item: Item | undefined
  readonly now: number
  readonly typical: string | undefined
  readonly isCritical: boolean
  /** All tasks are of one archive. */
  readonly isInArchive: boolean
}

/** Where the time of the task that is looked at went. */
export function Details({ item, now, typical, isCritical, isInArchive }: DetailsProps) {
  if (item === undefined) {
    return <p className="timeline-details muted">Point at a bar, or go to a task by Tab, to see where its time went.</p>
  }
  const sums = sumsOf(item, now)
  const workers = [...new Set(item.spans.flatMap(({ worker }) => (worker === null ? [] : [worker.name])))]
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['waited for others', formatDuration(sums.waiting)],
    ['ready, no slot', formatDuration(sums.ready)],
    ['ran', `${formatDuration(sums.running)}${sums.attempts > 1 ? ` in ${sums.attempts} attempts` : ''}`],
    ['usually runs', typical],
    ['waited to retry', sums.delayed > 0 ? formatDuration(sums.delayed) : undefined],
    ['held', sums.held > 0 ? formatDuration(sums.held) : undefined],
    ['on', workers.length > 0 ? workers.join(', ') : undefined],
  ]
  return (
    <div className="timeline-details">
      <p className="row">
        <StateBadge look={taskLooks[item.state]} /> <TaskLink task={item} isInArchive={isInArchive} />
        {isCritical && <span>on the critical path</span>}
      </p>
      <dl className="row">
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="name">{value}</dd>
            </div>
          ),
        )}
      </dl>
    </div>
  )
}
