import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import type { Answer, Received } from '../../test/receiver.ts'
import { useWebhooks } from '../../test/webhooks.ts'
import { createPool } from '../db/index.ts'
import { connect, publish, readEvents } from '../engine/index.ts'
import { createOutbound } from '../outbound/index.ts'
import { planDeliveries } from './plan.ts'
import type { Delivery } from './webhook.ts'
import { Webhooks } from './webhooks.ts'

const engine = useEngine()
const { aWebhook, sequence } = useWebhooks(engine)

/** Computed as the standard says, from the bytes that came. */
function signatureOf({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  expect(key.length).toBeGreaterThanOrEqual(24)
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

const typesOf = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body).type)

describe('an event', () => {
  test('is sent once, signed, to the webhooks that ask for it', async () => {
    const { webhook, receiver, plan, send, millrace, scope, deliveries } = await aWebhook()
    const { id } = await millrace.add(aWorker(), { a: 1 }, { scope, key: 'k', actor: 'someone' })
    await plan()
    await plan()
    await send()
    await send()
    expect(typesOf(receiver.received)).toEqual(['task.created', 'task.readied'])
    const [created] = receiver.received as [Received]
    expect(created.method).toBe('POST')
    expect(created.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(created.headers['webhook-id']).toMatch(/^msg_[0-9a-f]{32}$/)
    expect(created.headers['webhook-signature']).toBe(signatureOf(created, webhook.secret))
    expect(Math.abs(Number(created.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
    const { data, timestamp } = JSON.parse(created.body)
    expect(data).toMatchObject({
      name: 'created',
      task: id,
      scope,
      key: 'k',
      from: null,
      to: 'waiting',
      actor: 'someone',
    })
    expect(data.at).toBe(timestamp)
    expect(await deliveries()).toMatchObject([
      { name: 'readied', state: 'succeeded', attempts: [{ number: 1, status: 204, error: null }] },
      { name: 'created', state: 'succeeded', event: data.id, messageId: created.headers['webhook-id'] },
    ])
  })

  test('that is not asked for is not sent', async () => {
    const { receiver, plan, send, millrace, scope } = await aWebhook({ names: ['readied', 'test.wanted'] })
    await millrace.add(aWorker(), {}, { scope })
    await millrace.add(aWorker(), {}, { scope: `${scope}-other` })
    await publish(engine.pool, { name: 'test.wanted', scope })
    await publish(engine.pool, { name: 'test.unwanted', scope })
    await plan()
    await send()
    expect(typesOf(receiver.received).toSorted()).toEqual(['task.readied', 'test.wanted'])
  })

  test('of a scope that begins so is sent', async () => {
    const { webhooks, webhook, scope, receiver, plan, send } = await aWebhook()
    await webhooks.change(webhook.id, { scopes: [`${scope}:*`], actor: 'someone' })
    for (const name of [scope, `${scope}:`, `${scope}:a`, `${scope}-b`])
      await publish(engine.pool, { name: 'test.told', scope: name })
    await plan()
    await send()
    const scopes = receiver.received.map(({ body }) => JSON.parse(body).data.scope)
    expect(scopes.toSorted()).toEqual([`${scope}:`, `${scope}:a`])
  })

  test('of a delivery is never sent, not even to a webhook that asks for everything', async () => {
    const { webhooks, webhook, receiver, plan, send, tell } = await aWebhook()
    await webhooks.change(webhook.id, { scopes: [], actor: 'someone' })
    await tell()
    for (let round = 0; round < 3; round += 1) {
      await plan()
      await send()
    }
    expect(typesOf(receiver.received)).toEqual(['test.told'])
  })

  test('that commits late is not passed over', async () => {
    const { receiver, plan, send, scope, tell } = await aWebhook()
    const late = await engine.pool.connect()
    try {
      await late.query('begin')
      await publish(late, { name: 'test.late', scope })
      await tell('test.early')
      await plan()
      expect(typesOf((await send()) && receiver.received)).toEqual(['test.early'])
      await late.query('commit')
    } finally {
      late.release()
    }
    await plan()
    await send()
    expect(typesOf(receiver.received)).toEqual(['test.early', 'test.late'])
  })

  test('becomes one delivery although several servers plan at once', async () => {
    const { webhook, context, tell, webhooks } = await aWebhook()
    const others = await Promise.all(
      [1, 2, 3].map(async () => {
        const pool = createPool({ databaseUrl: engine.databaseUrl, max: 2 })
        onTestFinished(() => pool.end())
        return { ...context, pool }
      }),
    )
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([...others.map(planDeliveries), tell(), sequence()])
    }
    await sequence()
    await Promise.all(others.map(planDeliveries))
    await planDeliveries(context)
    const made = await webhooks.deliveries(webhook.id, { limit: 100 })
    expect(made.length).toBe(10)
    expect(new Set(made.map(({ event }) => event)).size).toBe(10)
  })

  test('before the webhook was made is not sent', async () => {
    const { receiver, plan, send } = await aWebhook({
      before: async (scope) => {
        await publish(engine.pool, { name: 'test.before', scope })
        await sequence()
      },
    })
    await plan()
    await send()
    expect(receiver.received).toEqual([])
  })

  test('is kept while the webhook is behind, and what is not kept any more is told as a whole', async () => {
    const { receiver, plan, send, tell, webhook } = await aWebhook()
    await tell()
    await sequence()
    // As if everything up to here had been pruned.
    await engine.pool.query('update millrace.webhook set position = 0 where id = $1', [webhook.id])
    await engine.pool.query(
      'delete from millrace.outbox_page where first < (select max(first) from millrace.outbox_page)',
    )
    await plan()
    await send()
    const [notice] = receiver.received as [Received]
    expect(JSON.parse(notice.body)).toMatchObject({ type: 'webhook.reset', data: { after: '0' } })
    await tell('test.after')
    await plan()
    await send()
    expect(typesOf(receiver.received)).toEqual(['webhook.reset', 'test.after'])
  })
})

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

  test('whose task was canceled by hand is not pending', async () => {
    const { plan, tell, deliveries, millrace } = await aWebhook()
    await tell()
    await plan()
    const [pending] = (await deliveries()) as [Delivery]
    await millrace.cancel(pending.task ?? '')
    expect(await deliveries()).toMatchObject([{ state: 'failed', endedAt: expect.any(Date) }])
  })
})

describe('a webhook', () => {
  test('whose receiver is gone is disabled, with an event', async () => {
    const { webhooks, webhook, plan, send, tell, receiver, deliveries } = await aWebhook({
      answer: (response) => response.writeHead(410).end(),
    })
    await tell()
    await plan()
    await send({ includeDelayed: true })
    expect(receiver.received.length).toBe(1)
    expect(await deliveries()).toMatchObject([{ state: 'failed', attempts: [{ status: 410 }] }])
    expect(await webhooks.get(webhook.id)).toMatchObject({
      isEnabled: false,
      disabledBecause: 'the receiver answered 410: it wants no more',
    })
    await sequence()
    const { events } = await readEvents(engine.pool, { after: 'oldest', filter: { scope: `webhook:${webhook.id}` } })
    expect(events.find(({ name }) => name === 'webhook.disabled')).toMatchObject({ actor: 'webhooks' })
    await tell()
    await plan()
    expect((await deliveries()).length).toBe(1)
    await expect(webhooks.resend(webhook.id, (await deliveries())[0]?.id ?? '', 'me')).rejects.toMatchObject({
      code: 'webhook_disabled',
    })
  })

  test('that fails for days on end is disabled; one success starts the count anew', async () => {
    let status = 500
    const { webhooks, webhook, plan, send, tell } = await aWebhook({
      answer: (response) => response.writeHead(status).end(),
    })
    const failsFor = (days: number) =>
      engine.pool.query(`update millrace.webhook set failing_since = now() - $2 * interval '1 day' where id = $1`, [
        webhook.id,
        days,
      ])
    await tell()
    await plan()
    await send()
    expect((await webhooks.get(webhook.id)).failingSince).toEqual(expect.any(Date))
    await failsFor(4.9)
    await send({ includeDelayed: true, limit: 1 })
    expect((await webhooks.get(webhook.id)).isEnabled).toBe(true)
    status = 200
    await send({ includeDelayed: true, limit: 1 })
    expect((await webhooks.get(webhook.id)).failingSince).toBeNull()
    status = 500
    await tell()
    await plan()
    await send()
    await failsFor(5)
    await send({ includeDelayed: true, limit: 1 })
    const disabled = await webhooks.get(webhook.id)
    expect(disabled).toMatchObject({ isEnabled: false })
    expect(disabled.disabledBecause).toBe('every attempt has failed for 5 days: the receiver answered 500')
  })

  test('that is enabled again is told of what happens from then on', async () => {
    const { webhooks, webhook, plan, send, tell, receiver } = await aWebhook()
    await webhooks.change(webhook.id, { isEnabled: false, actor: 'someone' })
    await tell('test.meanwhile')
    await sequence()
    const enabled = await webhooks.change(webhook.id, { isEnabled: true, actor: 'someone' })
    expect(enabled).toMatchObject({ isEnabled: true, disabledAt: null, disabledBecause: null, version: 3 })
    await tell('test.then')
    await plan()
    await send()
    expect(typesOf(receiver.received)).toEqual(['test.then'])
  })

  test('whose secret is rotated signs with both for a while', async () => {
    const { webhooks, webhook, plan, send, tell, receiver } = await aWebhook()
    const first = await webhooks.rotate(webhook.id, 3600)
    await tell()
    await plan()
    await send()
    const [both] = receiver.received as [Received]
    expect(both.headers['webhook-signature']).toBe(
      `${signatureOf(both, first.secret)} ${signatureOf(both, webhook.secret)}`,
    )
    // A third secret takes the place of the second; the first is forgotten.
    const second = await webhooks.rotate(webhook.id, 3600)
    await tell()
    await plan()
    await send()
    const later = receiver.received[1] as Received
    expect(later.headers['webhook-signature']).toBe(
      `${signatureOf(later, second.secret)} ${signatureOf(later, first.secret)}`,
    )
    await engine.pool.query(
      `update millrace.webhook set old_secret_until = now() - interval '1 second' where id = $1`,
      [webhook.id],
    )
    await tell()
    await plan()
    await send()
    const last = receiver.received[2] as Received
    expect(last.headers['webhook-signature']).toBe(signatureOf(last, second.secret))
    expect((await webhooks.rotate(webhook.id, 0)).oldSecretUntil).toBeNull()
  })

  test('is tried out with one message, also when it is disabled', async () => {
    const { webhooks, webhook, receiver, deliveries } = await aWebhook({
      answer: (response) => response.writeHead(500).end('no'),
    })
    await webhooks.change(webhook.id, { isEnabled: false, actor: 'someone' })
    const tried = await webhooks.tryOut(webhook.id, 'someone')
    expect(tried).toMatchObject({ name: 'webhook.test', state: 'failed', attempts: [{ status: 500, answer: 'no' }] })
    const [received] = receiver.received as [Received]
    expect(JSON.parse(received.body)).toMatchObject({ type: 'webhook.test', data: { webhook: webhook.id } })
    expect(received.headers['webhook-signature']).toBe(signatureOf(received, webhook.secret))
    expect(await deliveries()).toEqual([tried])
    expect((await webhooks.get(webhook.id)).failingSince).toBeNull()
  })

  test('that is removed leaves no task behind', async () => {
    const { webhooks, webhook, plan, send, tell, millrace, deliveries, receiver } = await aWebhook({
      answer: (response) => response.writeHead(500).end(),
    })
    await tell()
    await plan()
    await send()
    await tell()
    await plan()
    const tasks = (await deliveries()).map(({ task }) => task ?? '')
    expect(tasks.length).toBe(2)
    await webhooks.remove(webhook.id, { actor: 'someone' })
    expect(await Promise.all(tasks.map(async (id) => (await millrace.task(id)).state))).toEqual([
      'canceled',
      'canceled',
    ])
    await expect(webhooks.get(webhook.id)).rejects.toMatchObject({ code: 'webhook_not_found' })
    await expect(webhooks.remove(webhook.id, { actor: 'someone' })).rejects.toMatchObject({ code: 'webhook_not_found' })
    expect(receiver.received.length).toBe(1)
  })

  test('is changed only by those who have seen its last version', async () => {
    const { webhooks, webhook } = await aWebhook()
    const changed = await webhooks.change(webhook.id, { description: 'one', version: 1, actor: 'a' })
    expect(changed.version).toBe(2)
    await expect(webhooks.change(webhook.id, { description: 'two', version: 1, actor: 'b' })).rejects.toMatchObject({
      code: 'precondition_failed',
    })
    expect((await webhooks.get(webhook.id)).description).toBe('one')
  })

  test('to an inner address is refused', async () => {
    const outbound = createOutbound()
    onTestFinished(() => outbound.close())
    const millrace = await connect({ databaseUrl: engine.databaseUrl })
    onTestFinished(() => millrace.close())
    const webhooks = new Webhooks({ pool: engine.pool, millrace, outbound })
    for (const url of ['http://127.0.0.1/', 'http://0x7f.1/', 'https://[::1]/', 'file:///etc/passwd'])
      await expect(webhooks.create({ url, actor: 'someone' }), url).rejects.toThrow('refused')
  })
})
