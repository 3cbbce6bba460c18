import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import type { Millrace } from '../engine/index.ts'
import { addRoute } from './add-route.ts'

/** `/v1/workers`: who performs tasks. */
export function addWorkers(app: FastifyInstance, millrace: Millrace): void {
  addRoute(app, routes.workers.list, async ({ query }) => {
    const found = await millrace.dispatchers({ all: query.all === '1' })
    const items = found.map((worker) => ({
      id: worker.id,
      name: worker.name,
      host: worker.host,
      started_at: worker.startedAt.toISOString(),
      last_seen_at: worker.lastSeenAt.toISOString(),
      lease_seconds: worker.leaseSeconds,
      is_alive: worker.isAlive,
      running: worker.running,
      queues: [...worker.queues],
      kinds: [...worker.kinds],
    }))
    return { items, next_cursor: null }
  })
}
