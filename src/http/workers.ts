import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import { type DispatcherSummary, type Millrace, type Wanted, WorkerNotFound } from '../engine/index.ts'
import { addRoute } from './add-route.ts'

/** `/v1/workers`: who performs tasks, and what is asked of them. */
export function addWorkers(app: FastifyInstance, millrace: Millrace): void {
  const { workers } = routes
  addRoute(app, workers.list, async ({ query }) => {
    const found = await millrace.dispatchers({ all: query.all === '1' })
    return { items: found.map(toWorker), next_cursor: null }
  })
  const addWanting = (route: (typeof workers)['pause' | 'drain' | 'resume'], wanted: Wanted) =>
    addRoute(app, route, async ({ params, identity }) => {
      await millrace.want(params.id, wanted, { actor: identity.name })
      const worker = (await millrace.dispatchers()).find(({ id }) => id === params.id)
      if (worker === undefined) throw new WorkerNotFound(params.id)
      return toWorker(worker)
    })
  addWanting(workers.pause, 'paused')
  addWanting(workers.drain, 'draining')
  addWanting(workers.resume, 'running')
}

const toWorker = (worker: DispatcherSummary) => ({
  id: worker.id,
  name: worker.name,
  host: worker.host,
  process: worker.process,
  version: worker.version,
  started_at: worker.startedAt.toISOString(),
  last_seen_at: worker.lastSeenAt.toISOString(),
  heartbeat_age_ms: worker.silentMs,
  stopped_at: worker.stoppedAt?.toISOString() ?? null,
  lease_seconds: worker.leaseSeconds,
  is_alive: worker.isAlive,
  wanted: worker.wanted,
  wanted_at: worker.wantedAt?.toISOString() ?? null,
  wanted_by: worker.wantedBy,
  running: worker.running,
  slots: worker.slots,
  queues: [...worker.queues],
  kinds: [...worker.kinds],
  tasks: worker.tasks.map(({ startedAt, ...task }) => ({ ...task, started_at: startedAt?.toISOString() ?? null })),
})
