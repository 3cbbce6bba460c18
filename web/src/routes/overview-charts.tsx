import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type BodyAnswered, call, routes } from '../api.ts'
import { clock } from '../clock.ts'
import { formatCount, formatDuration, formatInstant } from '../format.ts'
import { useLiveState } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { Plot, type PlotSeries } from '../parts/plot.tsx'
import { type Column, Table } from '../parts/table.tsx'

type Throughput = BodyAnswered<typeof routes.overview.throughput>
type Bucket = Throughput['items'][number]

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ranges = {
  '1h': { label: 'hour', bucketMs: MINUTE, buckets: 60, againMs: 10_000 },
  '24h': { label: 'day', bucketMs: 30 * MINUTE, buckets: 48, againMs: MINUTE },
  '7d': { label: 'week', bucketMs: 2 * HOUR, buckets: 84, againMs: 5 * MINUTE },
} as const
type Range = keyof typeof ranges

const isRange = (text: string | undefined): text is Range => text !== undefined && text in ranges

/** How much was done, and how long it waited before, over an hour, a day or a week. */
export function Charts({ range: given }: { readonly range: string | undefined }) {
  const range: Range = isRange(given) ? given : '1h'
  const query = useThroughput(range)
  const choice = (
    <fieldset className="ranges">
      <legend className="visually-hidden">How far back</legend>
      {(Object.keys(ranges) as Range[]).map((one) => (
        <Link
          key={one}
          to="/"
          search={one === '1h' ? {} : { range: one }}
          replace
          className="range"
          aria-current={one === range ? 'true' : undefined}
        >
          {ranges[one].label}
        </Link>
      ))}
    </fieldset>
  )
  return (
    <div className="overview-charts">
      <Panel title="Ended" actions={choice}>
        <Loaded query={query}>{(data) => <Ended data={data} range={range} />}</Loaded>
      </Panel>
      <Panel title="Time from ready to start">
        <Loaded query={query}>{(data) => <Waits data={data} range={range} />}</Loaded>
      </Panel>
    </div>
  )
}

function useThroughput(range: Range) {
  const { is } = useLiveState()
  const { bucketMs, buckets, againMs } = ranges[range]
  return useQuery({
    queryKey: [routes.overview.throughput.name, range],
    queryFn: ({ signal }) => {
      // Whole buckets, so that what has been drawn stays where it is.
      const until = Math.ceil(clock.now() / bucketMs) * bucketMs
      const since = new Date(until - buckets * bucketMs).toISOString()
      const query = { since, until: new Date(until).toISOString(), buckets }
      return call(routes.overview.throughput, { query }, { signal })
    },
    refetchInterval: is === 'paused' || is === 'offline' ? false : againMs,
  })
}

const middleOf = ({ since, until }: Bucket) => (Date.parse(since) + Date.parse(until)) / 2

/** The tasks that were at work then. */
function usePick(items: readonly Bucket[]) {
  const navigate = useNavigate()
  return (index: number) => {
    const bucket = items[index]
    if (bucket !== undefined) void navigate({ to: '/timeline', search: { from: bucket.since, to: bucket.until } })
  }
}

type ChartProps = { readonly data: Throughput; readonly range: Range }

function Ended({ data, range }: ChartProps) {
  const pick = usePick(data.items)
  const { succeeded, failed, canceled, skipped } = data
  const others = canceled + skipped
  if (succeeded + failed + others === 0)
    return <EmptyState title={`Nothing ended in the last ${ranges[range].label}`} />
  const stack = (of: (bucket: Bucket) => number) => data.items.map(of)
  const series: PlotSeries[] = [
    {
      label: 'canceled or skipped',
      colour: '--state-canceled',
      isBar: true,
      values: stack((one) => one.succeeded + one.failed + one.canceled + one.skipped),
    },
    { label: 'failed', colour: '--state-failed', isBar: true, values: stack((one) => one.succeeded + one.failed) },
    { label: 'succeeded', colour: '--state-succeeded', isBar: true, values: stack((one) => one.succeeded) },
  ]
  const sentence = `In the last ${ranges[range].label} ${succeeded} succeeded, ${failed} failed, ${others} were canceled or skipped`
  return (
    <>
      <p className="legend">
        <span className="legend-succeeded">{formatCount(succeeded)} succeeded</span>
        <span className="legend-failed">{formatCount(failed)} failed</span>
        <span className="legend-canceled">{formatCount(others)} canceled or skipped</span>
        {!data.is_complete && <span>the oldest are missing: there was too much to count in time</span>}
      </p>
      <Plot
        label={sentence}
        times={data.items.map(middleOf)}
        series={series}
        format={(value) => (Number.isInteger(value) ? formatCount(value) : '')}
        onPick={pick}
      />
      <AsTable label="Ended" items={data.items} columns={[when, ...ended]} />
    </>
  )
}

function Waits({ data, range }: ChartProps) {
  const pick = usePick(data.items)
  if (data.wait_ms === null) return <EmptyState title={`Nothing began in the last ${ranges[range].label}`} />
  const { p50, p95 } = data.wait_ms
  const series: PlotSeries[] = [
    {
      label: 'nineteen in twenty',
      colour: '--state-delayed',
      isDashed: true,
      values: data.items.map(({ wait_ms }) => wait_ms?.p95 ?? null),
    },
    { label: 'half of them', colour: '--accent', values: data.items.map(({ wait_ms }) => wait_ms?.p50 ?? null) },
  ]
  return (
    <>
      <p className="legend">
        <span className="legend-half">half within {formatDuration(p50)}</span>
        <span className="legend-most">95 % within {formatDuration(p95)}</span>
        {data.run_ms !== null && (
          <span className="legend-ran">ran {formatDuration(data.run_ms.p50)}, half of them</span>
        )}
      </p>
      <Plot
        label={`Half of the tasks began within ${formatDuration(p50)} of being ready, 95 % within ${formatDuration(p95)}`}
        times={data.items.map(middleOf)}
        series={series}
        format={formatDuration}
        onPick={pick}
      />
      <AsTable label="Time from ready to start" items={data.items} columns={[when, ...waited]} />
    </>
  )
}

const when: Column<Bucket> = {
  id: 'when',
  head: 'From',
  isWide: true,
  cell: ({ since, until }) => (
    <Link to="/timeline" search={{ from: since, to: until }}>
      {formatInstant(Date.parse(since))}
    </Link>
  ),
}
const number = (id: 'succeeded' | 'failed' | 'canceled' | 'skipped'): Column<Bucket> => ({
  id,
  head: id,
  align: 'end',
  cell: (bucket) => formatCount(bucket[id], bucket.is_exact),
})
const ended = (['succeeded', 'failed', 'canceled', 'skipped'] as const).map(number)
const time = (id: 'p50' | 'p95', head: string): Column<Bucket> => ({
  id,
  head,
  align: 'end',
  cell: ({ wait_ms }) => (wait_ms === null ? '–' : formatDuration(wait_ms[id])),
})
const waited = [time('p50', 'half within'), time('p95', '95 % within')]

type AsTableProps = {
  readonly label: string
  readonly items: readonly Bucket[]
  readonly columns: readonly Column<Bucket>[]
}

function AsTable({ label, items, columns }: AsTableProps) {
  const busy = items.filter((one) => one.succeeded + one.failed + one.canceled + one.skipped > 0).reverse()
  return (
    <details className="as-table">
      <summary>As a table</summary>
      <Table label={label} columns={columns} rows={busy} rowKey={({ since }) => since} />
    </details>
  )
}
