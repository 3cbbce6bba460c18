import type { FastifyInstance } from 'fastify'
import { id, routes } from '../api/index.ts'
import type { Delivery, Webhook, Webhooks } from '../webhooks/index.ts'
import { addRoute } from './add-route.ts'
import { positionOf, toPage } from './cursor.ts'
import { setVersion } from './version.ts'

/** `/v1/webhooks`: receivers that are told of events, and what was sent to them. */
export function addWebhooks(app: FastifyInstance, webhooks: Webhooks): void {
  addManagement(app, webhooks)
  addDeliveries(app, webhooks)
}

function addManagement(app: FastifyInstance, webhooks: Webhooks): void {
  const { webhooks: contract } = routes
  addRoute(app, contract.create, async ({ body, identity, once, reply }) => {
    const after = await webhooks.now()
    const answer = await once(
      async (client) => {
        const { secret, ...made } = await webhooks.create({ ...body, actor: identity.name }, { client, after })
        setVersion(reply, made.version)
        reply.header('location', `/v1/webhooks/${made.id}`)
        return { ...toWebhook(made), secret }
      },
      { kept: (whole) => ({ ...whole, secret: null }) },
    )
    webhooks.wake()
    return answer
  })
  addRoute(app, contract.list, async ({ query }) => {
    const after = positionOf(contract.list, query, id) ?? '0'
    const rows = await webhooks.list({ after, limit: query.limit + 1 })
    return toPage(contract.list, query, rows, { item: toWebhook, position: (row) => row.id })
  })
  addRoute(app, contract.get, async ({ params, reply }) => {
    const found = await webhooks.get(params.id)
    setVersion(reply, found.version)
    return toWebhook(found)
  })
  addRoute(app, contract.change, async ({ params, body, identity, version, reply }) => {
    const { enabled, ...fields } = body
    const by = { actor: identity.name, version: toNumber(version) }
    const changed = await webhooks.change(params.id, { ...fields, isEnabled: enabled, ...by })
    setVersion(reply, changed.version)
    return toWebhook(changed)
  })
  addRoute(app, contract.remove, async ({ params, identity, version }) => {
    await webhooks.remove(params.id, { actor: identity.name, version: toNumber(version) })
    return undefined
  })
  addRoute(app, contract.rotate, async ({ params, body }) => {
    const { secret, oldSecretUntil } = await webhooks.rotate(params.id, body?.keep_seconds ?? 86_400)
    return { secret, old_secret_until: oldSecretUntil?.toISOString() ?? null }
  })
}

function addDeliveries(app: FastifyInstance, webhooks: Webhooks): void {
  const { webhooks: contract } = routes
  addRoute(app, contract.test, async ({ params, identity }) =>
    toDelivery(await webhooks.tryOut(params.id, identity.name)),
  )
  addRoute(app, contract.deliveries, async ({ params, query }) => {
    const before = positionOf(contract.deliveries, query, id)
    const rows = await webhooks.deliveries(params.id, { before, state: query.state, limit: query.limit + 1 })
    return toPage(contract.deliveries, query, rows, { item: toDelivery, position: (row) => row.id })
  })
  addRoute(app, contract.resend, async ({ params, identity }) =>
    toDelivery(await webhooks.resend(params.id, params.delivery, identity.name)),
  )
}

/** A version that is no number matches none. */
const toNumber = (version: string | undefined) => (version === undefined ? undefined : Number(version))

const iso = (at: Date | null) => at?.toISOString() ?? null

const toWebhook = (webhook: Webhook) => ({
  id: webhook.id,
  url: webhook.url,
  description: webhook.description,
  scopes: [...webhook.scopes],
  names: [...webhook.names],
  enabled: webhook.isEnabled,
  disabled_at: iso(webhook.disabledAt),
  disabled_because: webhook.disabledBecause,
  failing_since: iso(webhook.failingSince),
  old_secret_until: iso(webhook.oldSecretUntil),
  created_at: webhook.createdAt.toISOString(),
  created_by: webhook.createdBy,
  version: webhook.version,
})

const toDelivery = (delivery: Delivery) => ({
  id: delivery.id,
  message_id: delivery.messageId,
  event: delivery.event,
  name: delivery.name,
  state: delivery.state,
  created_at: delivery.createdAt.toISOString(),
  ended_at: iso(delivery.endedAt),
  next_at: iso(delivery.nextAt),
  task: delivery.task,
  attempts: delivery.attempts.map(({ number, at, durationMs, status, error, answer }) => ({
    number,
    at: at.toISOString(),
    duration_ms: durationMs,
    status,
    error,
    answer,
  })),
})
