import type { Db } from '../db/index.ts'
import { listDeliveries } from './deliveries.sql.ts'
import { DeliveryNotFound, WebhookNotFound } from './errors.ts'
import type { Attempt, Delivery, Webhook } from './webhook.ts'
import { listWebhooks, readWebhook } from './webhooks.sql.ts'

type WebhookRow = NonNullable<Awaited<ReturnType<typeof readWebhook>>>

export const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  createdAt: row.created_at,
  createdBy: row.created_by,
  version: row.version,
  url: row.url,
  description: row.description,
  scopes: row.scopes,
  names: row.names,
  isEnabled: row.is_enabled,
  disabledAt: row.disabled_at,
  disabledBecause: row.disabled_because,
  failingSince: row.failing_since,
  oldSecretUntil: row.old_secret_until,
})

/** The webhook. Throws `WebhookNotFound`. */
export async function read(db: Db, id: string): Promise<Webhook> {
  const row = await readWebhook(db, { id })
  if (row === undefined) throw new WebhookNotFound(id)
  return toWebhook(row)
}

/** The oldest first. */
export async function list(db: Db, page: { readonly after: string; readonly limit: number }): Promise<Webhook[]> {
  return (await listWebhooks(db, page)).map(toWebhook)
}

export type DeliveryList = {
  readonly before?: string | undefined
  readonly state?: Delivery['state'] | undefined
  readonly limit: number
}

/** Deliveries of a webhook, the newest first. */
export async function deliveries(db: Db, webhook: string, { before, state, limit }: DeliveryList): Promise<Delivery[]> {
  await read(db, webhook)
  const rows = await listDeliveries(db, { webhook, id: null, before: before ?? null, state: state ?? null, limit })
  return rows.map(toDelivery)
}

export async function delivery(db: Db, webhook: string, id: string): Promise<Delivery> {
  const [row] = await listDeliveries(db, { webhook, id, before: null, state: null, limit: 1 })
  if (row === undefined) throw new DeliveryNotFound(webhook, id)
  return toDelivery(row)
}

type AttemptColumns = Omit<Attempt, 'at' | 'durationMs'> & { readonly at: string; readonly duration_ms: number }

function toDelivery(row: Awaited<ReturnType<typeof listDeliveries>>[number]): Delivery {
  return {
    id: row.id,
    messageId: row.message_id,
    event: row.event,
    name: row.name,
    state: row.state as Delivery['state'],
    createdAt: row.created_at,
    endedAt: row.ended_at,
    nextAt: row.next_at,
    task: row.task,
    attempts: (row.attempts as AttemptColumns[]).map(({ at, duration_ms: durationMs, ...attempt }) => ({
      ...attempt,
      at: new Date(at),
      durationMs,
    })),
  }
}
