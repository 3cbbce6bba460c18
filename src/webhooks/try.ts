import { transaction } from '../db/index.ts'
import type { Context } from './context.ts'
import { drawDeliveryIds, endDelivery, insertAttempt, insertDeliveries, readToSend } from './deliveries.sql.ts'
import { WebhookNotFound } from './errors.ts'
import { toMessage } from './message.ts'
import { read, delivery as readDelivery } from './read.ts'
import { send } from './send.ts'
import type { Delivery } from './webhook.ts'
import { lockWebhook } from './webhooks.sql.ts'

const TEST = 'webhook.test'

/** Sends a test message once, also when the webhook is disabled, and answers what came of it. */
export async function tryOut({ pool, outbound }: Context, webhook: string, actor: string): Promise<Delivery> {
  const { url } = await read(pool, webhook)
  const message = toMessage({ type: TEST, at: new Date(), data: { webhook, actor } })
  const [drawn] = await drawDeliveryIds(pool, { count: 1 })
  const id = drawn?.id ?? ''
  await transaction(pool, async (tx) => {
    if ((await lockWebhook(tx, { id: webhook })) === undefined) throw new WebhookNotFound(webhook)
    await insertDeliveries(tx, {
      ids: [id],
      webhooks: [webhook],
      message_ids: [message.messageId],
      events: [null],
      names: [TEST],
      bodies: [message.body],
      tasks: [null],
    })
  })
  const found = await readToSend(pool, { id })
  if (found === undefined) throw new WebhookNotFound(webhook)
  const secrets = [found.secret, ...(found.old_secret === null ? [] : [found.old_secret])]
  const sent = await send(outbound, { ...message, url, secrets })
  await transaction(pool, async (tx) => {
    const { at, durationMs, status, error, answer } = sent
    await insertAttempt(tx, { delivery: id, at, duration_ms: durationMs, status, error, answer })
    await endDelivery(tx, { id, task: null, outcome: error === null ? 'succeeded' : 'failed' })
  })
  return readDelivery(pool, webhook, id)
}
