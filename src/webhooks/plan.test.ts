import { describe, expect, onTestFinished, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import type { Received } from '../../test/receiver.ts'
import { signatureOf, typesOf, useWebhooks } from '../../test/webhooks.ts'
import { createPool } from '../db/index.ts'
import { publish } from '../engine/index.ts'
import { planDeliveries } from './plan.ts'

const engine = useEngine()
const { aWebhook, sequence } = useWebhooks(engine)

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
    expect(new Set(typesOf(receiver.received))).toEqual(new Set(['task.readied', 'test.wanted']))
  })

  test('of a scope that begins so is sent', async () => {
    const { webhooks, webhook, scope, receiver, plan, send } = await aWebhook()
    await webhooks.change(webhook.id, { scopes: [`${scope}:*`], actor: 'someone' })
    for (const name of [scope, `${scope}:`, `${scope}:a`, `${scope}-b`])
      await publish(engine.pool, { name: 'test.told', scope: name })
    await plan()
    await send()
    const scopes = receiver.received.map(({ body }) => JSON.parse(body).data.scope)
    expect(new Set(scopes)).toEqual(new Set([`${scope}:`, `${scope}:a`]))
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
      before: (scope) => publish(engine.pool, { name: 'test.before', scope }),
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
