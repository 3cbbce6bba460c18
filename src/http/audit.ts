import type { FastifyInstance } from 'fastify'
import { id, routes } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import { positionOf, toPage } from './cursor.ts'

/** `/v1/audit`: who did what. */
export function addAudit(app: FastifyInstance): void {
  const { list } = routes.audit
  addRoute(app, list, async ({ query }) => {
    const rows = await app.access.audit.list({
      actor: query.actor ?? null,
      action: query.action ?? null,
      since: query.since === undefined ? null : new Date(query.since),
      before: positionOf(list, query, id) ?? null,
      limit: query.limit + 1,
    })
    return toPage(list, query, rows, {
      position: (row) => row.id,
      item: ({ at, requestId, subject, ...row }) => ({
        ...row,
        at: at.toISOString(),
        subject: { ...subject },
        request_id: requestId,
      }),
    })
  })
}
