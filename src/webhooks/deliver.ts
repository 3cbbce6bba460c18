// A delivery is a task of the engine: it is leased, retried and shown like any other. Its body was written down when the
// event was read; sending it again sends the same bytes under the same id.
import { z } from 'zod'
import { type Db, type Pool, transaction } from '../db/index.ts'
import { type AnyWorker, defineWorker, PermanentError, publish, TransientError, type Tx } from '../engine/index.ts'
import type { Outbound } from '../outbound/index.ts'
import { endDelivery, insertAttempt, readToSend } from './deliveries.sql.ts'
import { type Sent, send } from './send.ts'
import { scopeOf } from './webhook.ts'
import { disableWebhook, noteFailure, noteSuccess } from './webhooks.sql.ts'

export const DELIVER = 'webhook.deliver'

/** Pauses between attempts: the schedule that Standard Webhooks gives as its example, three days in all. */
const RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
const MOST_ATTEMPTS = RETRY_SECONDS.length + 1
/** Days of nothing but failures after which a webhook is disabled: longer than all attempts of one delivery take. */
const PATIENCE_DAYS = 5
const LONGEST_WAIT_SECONDS = 86_400

const payload = z.object({ delivery: z.string() })

type Result = { readonly status: number | null; readonly wasDropped?: true }

/** The worker that sends deliveries. */
export function createDeliver(pool: Pool, outbound: Outbound): AnyWorker {
  return defineWorker({
    kind: DELIVER,
    queue: 'webhooks',
    payload,
    maxAttempts: MOST_ATTEMPTS,
    async work({ payload: { delivery }, task, signal }): Promise<Result> {
      const found = await readToSend(pool, { id: delivery })
      // Its webhook was deleted, or it was given to another task to be sent again.
      if (found === undefined || found.task !== task.id) return { status: null, wasDropped: true }
      if (!found.is_enabled) throw new PermanentError(`webhook ${found.webhook} is disabled`)
      const secrets = [found.secret, ...(found.old_secret === null ? [] : [found.old_secret])]
      const sent = await send(
        outbound,
        { messageId: found.message_id, body: found.body, url: found.url, secrets },
        signal,
      )
      await recordAttempt(pool, { delivery, webhook: found.webhook, sent })
      if (sent.error === null) return { status: sent.status }
      if (sent.status === 410) throw new PermanentError(sent.error)
      throw new TransientError(sent.error, { retryAfterSeconds: pauseAfter(task.failures, sent.retryAfterSeconds) })
    },
    async onSuccess(tx, task, result) {
      if (result.wasDropped) return
      await endDelivery(asDb(tx), { id: task.payload.delivery, task: task.id, outcome: 'succeeded' })
    },
    async onFailure(tx, task, _error, { isLast }) {
      if (isLast) await endDelivery(asDb(tx), { id: task.payload.delivery, task: task.id, outcome: 'failed' })
    },
  })
}

/** With jitter, so that what failed together does not come back together. A receiver may ask for more time, not for less. */
function pauseAfter(failures: number, asked = 0): number {
  const planned = RETRY_SECONDS[failures] ?? LONGEST_WAIT_SECONDS
  const jittered = planned * (1 + Math.random() / 10)
  return Math.max(jittered, Math.min(asked, LONGEST_WAIT_SECONDS))
}

type Attempted = { readonly delivery: string; readonly webhook: string; readonly sent: Sent }

/**
 * Keeps what came of a sending, and disables a webhook whose receiver is gone. Written before the task's outcome: a
 * process that dies in between sends again, and the log rightly shows both.
 */
export async function recordAttempt(pool: Pool, { delivery, webhook, sent }: Attempted): Promise<void> {
  await transaction(pool, async (tx) => {
    await insertAttempt(tx, {
      delivery,
      at: sent.at,
      duration_ms: sent.durationMs,
      status: sent.status,
      error: sent.error,
      answer: sent.answer,
    })
    if (sent.error === null) return noteSuccess(tx, { id: webhook })
    const failing = await noteFailure(tx, { id: webhook })
    const days = Math.floor(Number(failing?.seconds ?? 0) / 86_400)
    if (sent.status === 410) return disable(tx, webhook, 'the receiver answered 410: it wants no more')
    if (days >= PATIENCE_DAYS) return disable(tx, webhook, `every attempt has failed for ${days} days: ${sent.error}`)
  })
}

async function disable(tx: Db, webhook: string, because: string): Promise<void> {
  const disabled = await disableWebhook(tx, { id: webhook, because })
  if (disabled === undefined) return
  await publish(tx, { name: 'webhook.disabled', scope: scopeOf(webhook), cause: because, actor: 'webhooks' })
}

/** A callback's transaction, as statements take it. */
const asDb = (tx: Tx): Db => ({ query: ({ text, values }) => tx.query(text, values) })
