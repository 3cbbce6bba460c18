import { describe, expect, onTestFinished, test } from 'vitest'
import { useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import type { Received } from '../../test/receiver.ts'
import { signatureOf, typesOf, useWebhooks } from '../../test/webhooks.ts'
import { createPool, transaction } from '../db/index.ts'
import { connect, readEvents } from '../engine/index.ts'
import { createOutbound } from '../outbound/index.ts'
import { attention } from './attention.ts'
import { Webhooks } from './webhooks.ts'

const engine = useEngine()
const { aWebhook, sequence } = useWebhooks(engine)

/** A transaction of somebody else's that has done one thing and is still open. */
async function meanwhile(text: string, webhook: string) {
  const client = await engine.pool.connect()
  onTestFinished(() => client.release())
  await client.query('begin')
  await client.query(text, [webhook])
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const isWaitedFor = async () => {
    const found = await engine.pool.query('select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [
      rows[0].pid,
    ])
    return found.rowCount === 0 ? undefined : true
  }
  return {
    isWaitedFor: () => waitFor(isWaitedFor),
    goOn: (next: string, id: string) => client.query(next, [id]),
    commit: () => client.query('commit'),
  }
}

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
    const needing = (await attention(engine.pool)).find((one) => one.webhook === webhook.id)
    expect(needing).toMatchObject({ code: 'webhook_disabled' })
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

  test('needs attention when it fails or was disabled for that, and not when a person disabled it', async () => {
    const { webhooks, webhook, plan, send, tell } = await aWebhook({
      answer: (response) => response.writeHead(500).end(),
    })
    const codes = async () =>
      (await attention(engine.pool)).flatMap((one) => (one.webhook === webhook.id ? [one.code] : []))
    expect(await codes()).toEqual([])
    await tell()
    await plan()
    await send({ limit: 1 })
    expect(await codes()).toEqual(['webhook_failing'])
    await webhooks.change(webhook.id, { isEnabled: false, actor: 'someone' })
    await webhooks.tryOut(webhook.id, 'someone')
    expect(await codes()).toEqual([])
  })

  test('is made in a transaction that holds the only connection there is', async () => {
    const { webhooks } = await aWebhook()
    const pool = createPool({ databaseUrl: engine.databaseUrl, max: 1 })
    onTestFinished(() => pool.end())
    const millrace = await connect({ databaseUrl: engine.databaseUrl })
    onTestFinished(() => millrace.close())
    const outbound = createOutbound()
    onTestFinished(() => outbound.close())
    const single = new Webhooks({ pool, millrace, outbound })
    const after = await single.now()
    const fields = { url: 'https://hooks.example.org/a', actor: 'someone' }
    const { id } = await transaction(pool, (client) => single.create(fields, { client, after }))
    await webhooks.remove(id, { actor: 'someone' })
  })

  test('is not removed by one who has not seen its last change', async () => {
    const { webhooks, webhook } = await aWebhook()
    const change = await meanwhile('update millrace.webhook set version = version + 1 where id = $1', webhook.id)
    const removing = webhooks.remove(webhook.id, { actor: 'someone', version: webhook.version })
    removing.catch(() => {})
    await change.isWaitedFor()
    await change.commit()
    await expect(removing).rejects.toMatchObject({ code: 'precondition_failed' })
    expect(await webhooks.get(webhook.id)).toMatchObject({ isEnabled: true })
  })

  test('is removed while a sending of its delivery is recorded', async () => {
    const { webhooks, webhook, tell, plan } = await aWebhook()
    await tell()
    await plan()
    const record = await meanwhile('update millrace.webhook_delivery set attempts = 1 where webhook = $1', webhook.id)
    const removing = webhooks.remove(webhook.id, { actor: 'someone' })
    removing.catch(() => {})
    await record.isWaitedFor()
    await record.goOn('update millrace.webhook set failing_since = now() where id = $1', webhook.id)
    await record.commit()
    await removing
    await expect(webhooks.get(webhook.id)).rejects.toMatchObject({ code: 'webhook_not_found' })
  })

  test('that is removed while it is to be tried out is not found', async () => {
    const { webhooks, webhook } = await aWebhook()
    const removal = await meanwhile('delete from millrace.webhook where id = $1', webhook.id)
    const trying = webhooks.tryOut(webhook.id, 'someone')
    trying.catch(() => {})
    await removal.isWaitedFor()
    await removal.commit()
    await expect(trying).rejects.toMatchObject({ code: 'webhook_not_found' })
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
