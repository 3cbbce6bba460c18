import { routes, useCall } from '../../api.ts'
import { formatDuration } from '../../format.ts'

/** How long tasks of this name usually take. */
export function Typical({ id }: { readonly id: string }) {
  const { data } = useCall(routes.tasks.typical, { params: { id } })
  if (data === undefined) return <span className="muted">…</span>
  if (data.median_ms === null) return <span className="muted">too few have succeeded</span>
  const [low, high] = [data.p10_ms ?? data.median_ms, data.p90_ms ?? data.median_ms]
  return (
    <span title={`${formatDuration(low)} to ${formatDuration(high)}, of the last ${data.count}`}>
      {formatDuration(data.median_ms)}
    </span>
  )
}
