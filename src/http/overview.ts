import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import type { Archives } from '../archives/index.ts'
import { type Attention, type Line, type Millrace, severities, type ThroughputBucket } from '../engine/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { addRoute } from './add-route.ts'
import { Problem } from './problems.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LONGEST_MS = 366 * DAY_MS
const MOST = 500

export type OverviewParts = {
  readonly millrace: Millrace
  readonly archives: Archives
  readonly webhooks: Webhooks
}

/** `/v1/attention`, `/v1/lines` and `/v1/throughput`. */
export function addOverview(app: FastifyInstance, { millrace, archives, webhooks }: OverviewParts): void {
  const { overview } = routes
  addRoute(app, overview.attention, async ({ query, identity }) => {
    const since = query.since === undefined ? new Date(Date.now() - DAY_MS) : new Date(query.since)
    const found = await Promise.all([
      millrace.attention(since),
      archives.attention(since),
      // Where they lead to is for those who may set them up.
      identity.role === 'admin' ? webhooks.attention() : [],
    ])
    return { items: found.flat().sort(byUrgency).slice(0, MOST).map(toItem), next_cursor: null }
  })
  addRoute(app, overview.lines, async () => ({ items: (await millrace.lines()).map(toLine), next_cursor: null }))
  addRoute(app, overview.throughput, async ({ query }) => {
    const until = query.until === undefined ? new Date() : new Date(query.until)
    const since = query.since === undefined ? new Date(until.getTime() - HOUR_MS) : new Date(query.since)
    if (since >= until || until.getTime() - since.getTime() > LONGEST_MS) {
      throw new Problem('invalid', '/query/since: must be before until, by a year at most')
    }
    const found = await millrace.throughput({ from: since, to: until, buckets: query.buckets })
    const sum = (of: (bucket: ThroughputBucket) => number) => found.buckets.reduce((all, one) => all + of(one), 0)
    return {
      since: since.toISOString(),
      until: until.toISOString(),
      items: found.buckets.map(({ from, to, isExact, waitMs, runMs, ...counts }) => ({
        since: from.toISOString(),
        until: to.toISOString(),
        ...counts,
        is_exact: isExact,
        wait_ms: waitMs,
        run_ms: runMs,
      })),
      is_complete: found.isComplete,
      succeeded: sum((one) => one.succeeded),
      failed: sum((one) => one.failed),
      canceled: sum((one) => one.canceled),
      skipped: sum((one) => one.skipped),
      wait_ms: found.waitMs,
      run_ms: found.runMs,
    }
  })
}

const toLine = ({ queue, kind, waiting, isExact, takers, first: { readyAt, ...first } }: Line) => ({
  queue,
  kind,
  waiting,
  is_exact: isExact,
  workers: takers,
  first: { ...first, ready_at: readyAt?.toISOString() ?? null },
})

/** By severity, then the latest first: what has just happened is what somebody looks for. */
function byUrgency(a: Attention, b: Attention): number {
  const severity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  return severity !== 0 ? severity : (b.since?.getTime() ?? 0) - (a.since?.getTime() ?? 0)
}

const toItem = (one: Attention) => ({
  code: one.code,
  severity: one.severity,
  sentence: one.sentence,
  since: one.since?.toISOString() ?? null,
  count: one.count,
  task: one.task ?? null,
  key: one.key ?? null,
  kind: one.kind ?? null,
  queue: one.queue ?? null,
  scope: one.scope ?? null,
  worker: one.worker ?? null,
  archive: one.archive ?? null,
  revision: one.revision ?? null,
  schedule: one.schedule ?? null,
  webhook: one.webhook ?? null,
  action: one.action,
})
