import { transaction } from '../db/index.ts'
import { cancelIfUnfinished } from './change.ts'
import type { Context } from './context.ts'
import { lockDelivery, restartDelivery } from './deliveries.sql.ts'
import { DeliveryNotFound, WebhookDisabled, WebhookNotFound } from './errors.ts'
import { toTask } from './plan.ts'
import { delivery as readDelivery } from './read.ts'
import type { Delivery } from './webhook.ts'
import { lockWebhook } from './webhooks.sql.ts'

/**
 * Sends a delivery again, at once and with all attempts anew, under the id and with the bytes it had. One that is
 * waiting for its next attempt does not wait any longer.
 */
export async function resend(context: Context, webhook: string, id: string, actor: string): Promise<Delivery> {
  const { pool, millrace } = context
  const before = await transaction(pool, async (tx) => {
    const found = await lockWebhook(tx, { id: webhook })
    if (found === undefined) throw new WebhookNotFound(webhook)
    if (!found.is_enabled) throw new WebhookDisabled(webhook)
    const delivery = await lockDelivery(tx, { id, webhook })
    if (delivery === undefined) throw new DeliveryNotFound(webhook, id)
    const [task] = await millrace.addMany([toTask(context.worker, webhook, id)], { client: tx, actor })
    await restartDelivery(tx, { id, task: task?.id ?? '' })
    return delivery.task
  })
  // It would find that the delivery is not its own any more, but perhaps only tomorrow.
  if (before !== null) await cancelIfUnfinished(context, before, `delivery ${id} is sent again by ${actor}`)
  return readDelivery(pool, webhook, id)
}
