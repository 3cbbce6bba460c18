import { describe, expect, test } from 'vitest'
import { useEngine } from '../../test/engine.ts'
import type { Answer } from '../../test/receiver.ts'
import { useWebhooks } from '../../test/webhooks.ts'
import type { Delivery } from './webhook.ts'

const engine = useEngine()
const { aWebhook } = useWebhooks(engine)

describe('a delivery', () => {
  test('that is not taken is sent again, the same bytes under the same id', async () => {
    const statuses = [500, 404, 302, 200]
    const answer: Answer = (response) => {
      const status = statuses.shift() ?? 200
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end(`answer ${status}`)
    }
    const { receiver, plan, send, tell, deliveries } = await aWebhook({ answer })
    await tell()
    await plan()
    await send()
    const [waiting] = (await deliveries()) as [Delivery]
    expect(waiting).toMatchObject({
      state: 'pending',
      endedAt: null,
      attempts: [{ status: 500, answer: 'answer 500' }],
    })
    // The first pause is five seconds, with a tenth of jitter.
    const pause = (waiting.nextAt?.getTime() ?? 0) - (waiting.attempts[0]?.at.getTime() ?? 0)
    expect(pause).toBeGreaterThan(4_500)
    expect(pause).toBeLessThan(20_000)
    await send({ includeDelayed: true })
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/', '/', '/', '/'])
    expect(await deliveries()).toMatchObject([
      {
        state: 'succeeded',
        attempts: [
          { number: 1, status: 500, error: 'the receiver answered 500' },
          { number: 2, status: 404 },
          { number: 3, status: 302 },
          { number: 4, status: 200, error: null, answer: 'answer 200' },
        ],
      },
    ])
  })

  test('ends as failed after ten attempts over three days', async () => {
    const { receiver, plan, send, tell, deliveries } = await aWebhook({
      answer: (response) => response.writeHead(500).end(),
    })
    await tell()
    await plan()
    await send({ includeDelayed: true })
    expect(receiver.received.length).toBe(10)
    const [failed] = (await deliveries()) as [Delivery]
    expect(failed).toMatchObject({ state: 'failed', nextAt: null, endedAt: expect.any(Date) })
    const { rows } = await engine.pool.query(
      'select details from millrace.outbox where name = $1 and $2 = any(tasks)',
      ['retry', failed.task],
    )
    expect(rows.length).toBe(9)
  })

  test('waits as long as the receiver asks', async () => {
    const { plan, send, tell, deliveries } = await aWebhook({
      answer: (response) => response.writeHead(429, { 'retry-after': '600' }).end(),
    })
    await tell()
    await plan()
    await send()
    const [waiting] = (await deliveries()) as [Delivery]
    expect((waiting.nextAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(500_000)
  })

  test('to nobody says what happened', async () => {
    const { receiver, plan, send, tell, deliveries } = await aWebhook()
    receiver.server.close()
    await tell()
    await plan()
    await send()
    const [waiting] = (await deliveries()) as [Delivery]
    expect(waiting.attempts).toMatchObject([{ status: null, error: expect.stringContaining('ECONNREFUSED') }])
  })

  test('to an inner address is not sent', async () => {
    const { webhook, receiver, plan, send, tell, deliveries } = await aWebhook()
    // As a name would do that resolves to another address than when the webhook was made.
    await engine.pool.query('update millrace.webhook set url = $2 where id = $1', [webhook.id, 'http://10.0.0.1/'])
    await tell()
    await plan()
    await send()
    expect(receiver.received).toEqual([])
    expect((await deliveries())[0]?.attempts[0]?.error).toContain('10.0.0.1 is refused')
  })

  test('is sent again on request, at once and under the same id', async () => {
    const { receiver, webhooks, webhook, plan, send, tell, deliveries, millrace } = await aWebhook({
      answer: (response) => response.writeHead(receiver.received.length > 1 ? 200 : 503).end(),
    })
    await tell()
    await plan()
    await send()
    const [before] = (await deliveries()) as [Delivery]
    const again = await webhooks.resend(webhook.id, before.id, 'someone')
    expect(again).toMatchObject({ id: before.id, state: 'pending' })
    expect(again.task).not.toBe(before.task)
    expect((await millrace.task(before.task ?? '')).state).toBe('canceled')
    await send({ includeDelayed: true })
    expect(receiver.received.length).toBe(2)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(await deliveries()).toMatchObject([{ state: 'succeeded', attempts: [{ number: 1 }, { number: 2 }] }])
    // One that was taken, too: the receiver may have lost it.
    await webhooks.resend(webhook.id, before.id, 'someone')
    await send()
    expect(receiver.received.length).toBe(3)
  })

  test('that was given to another task is not sent by the first', async () => {
    const { receiver, plan, send, tell, deliveries } = await aWebhook()
    await tell()
    await plan()
    const [pending] = (await deliveries()) as [Delivery]
    // As a resend leaves it when its process dies before it has canceled the first task.
    await engine.pool.query('update millrace.webhook_delivery set task = task + 1000000 where id = $1', [pending.id])
    await send()
    expect(receiver.received).toEqual([])
  })

  test('whose task was canceled by hand is not pending', async () => {
    const { plan, tell, deliveries, millrace } = await aWebhook()
    await tell()
    await plan()
    const [pending] = (await deliveries()) as [Delivery]
    await millrace.cancel(pending.task ?? '')
    expect(await deliveries()).toMatchObject([{ state: 'failed', endedAt: expect.any(Date) }])
  })
})
