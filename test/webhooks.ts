// Webhooks with receivers on this machine; deliveries are made and sent when a test says so.
import { createHmac } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { drain } from '../src/engine/drain.ts'
import { connect, publish } from '../src/engine/index.ts'
import { sequence } from '../src/engine/outbox.ts'
import { createOutbound } from '../src/outbound/index.ts'
import { planDeliveries } from '../src/webhooks/plan.ts'
import { Webhooks } from '../src/webhooks/webhooks.ts'
import type { TestEngine } from './engine.ts'
import { type Answer, aReceiver, type Received } from './receiver.ts'

/** The signature, computed as the standard says from the bytes that came. */
export function signatureOf({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

export const typesOf = (received: readonly Received[]): string[] => received.map(({ body }) => JSON.parse(body).type)

export type WebhookOptions = {
  readonly names?: string[]
  readonly answer?: Answer
  /** Told the scope before the webhook is made. */
  readonly before?: (scope: string) => Promise<void>
}

export function useWebhooks(engine: TestEngine) {
  let made = 0

  /** A webhook for events of a scope of its own. */
  const aWebhook = async ({ names, answer, before }: WebhookOptions = {}) => {
    made += 1
    const scope = `told-${made}`
    const millrace = await connect({ databaseUrl: engine.databaseUrl })
    onTestFinished(() => millrace.close())
    const outbound = createOutbound({ allow: ['127.0.0.0/8'] })
    onTestFinished(() => outbound.close())
    const webhooks = new Webhooks({ pool: engine.pool, millrace, outbound })
    const [worker] = webhooks.workers
    if (worker === undefined) throw new Error('there is no worker')
    const context = { pool: engine.pool, millrace, outbound, worker }
    const receiver = await aReceiver(answer)
    await before?.(scope)
    const webhook = await webhooks.create({ url: receiver.url, scopes: [scope], names, actor: 'someone' })
    // Removed, so that the next test's events are not sent here.
    onTestFinished(() => webhooks.remove(webhook.id, { actor: 'test' }).catch(() => {}))
    return {
      webhooks,
      webhook,
      context,
      millrace,
      scope,
      receiver,
      tell: (name = 'test.told', detail: unknown = {}) => publish(engine.pool, { name, scope, detail }),
      deliveries: () => webhooks.deliveries(webhook.id, { limit: 100 }),
      /** Makes deliveries of everything that was committed. */
      plan: async () => {
        await sequence(engine.pool)
        while (await planDeliveries(context));
      },
      send: (options: { limit?: number; includeDelayed?: boolean } = {}) =>
        drain(millrace, webhooks.workers, { queues: ['webhooks'], ...options }),
    }
  }
  return { aWebhook, sequence: () => sequence(engine.pool) }
}
