// Servers that deliver events are killed while they do; subscribers and receivers must not notice more than a pause.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPool } from '../../src/db/index.ts'
import { publish } from '../../src/engine/index.ts'
import { database } from '../database.ts'
import { listenTo } from '../events.ts'
import { inForm } from '../long-form.ts'
import { PATIENCE_MS, waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { aReceiver } from '../receiver.ts'
import { scratch } from '../scratch.ts'
import { ADMIN } from '../server.ts'

const READY = /^millrace listening on /

async function aServer(databaseUrl: string): Promise<Program & { url: string }> {
  const folder = await scratch()
  const program = runProgram('src/bin.ts', {
    args: ['serve'],
    env: {
      MILLRACE_PORT: '0',
      MILLRACE_LOG_LEVEL: 'warn',
      MILLRACE_DATA: folder.path,
      MILLRACE_DATABASE_URL: databaseUrl,
      MILLRACE_ADMIN_TOKEN: ADMIN,
      MILLRACE_OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
  return { ...program, url: (await program.line(READY)).replace(READY, '') }
}

/** Tells numbered events from several connections at once, some in transactions that stay open for a while. */
function teller(databaseUrl: string) {
  const pool = createPool({ databaseUrl, max: 5 })
  let told = 0
  let isEnough = false
  const one = async () => {
    while (!isEnough) {
      const number = told++
      const client = await pool.connect()
      try {
        await client.query('begin')
        await publish(client, { name: 'test.told', scope: 'crash', detail: { number } })
        if (number % 7 === 0) await sleep(30)
        await client.query('commit')
      } finally {
        client.release()
      }
      await sleep(2)
    }
  }
  const running = Promise.all([one(), one(), one(), one()])
  return {
    async stop(): Promise<number> {
      isEnough = true
      await running
      await pool.end()
      return told
    },
  }
}

test('a subscriber of servers that are killed gets each event once and in order', async () => {
  await using db = await database()
  const telling = teller(db.databaseUrl)
  const seen: { id: string; detail: { number: number } }[] = []
  let lastEventId: string | undefined
  for (let round = 1; round <= inForm(2, 4); round += 1) {
    await using server = await aServer(db.databaseUrl)
    const url = `${server.url}/v1/events?scope=crash&after=oldest`
    const listening = await listenTo(url, lastEventId === undefined ? {} : { lastEventId })
    await listening.count(100)
    server.child.kill('SIGKILL')
    expect(await listening.ended).toBe(false)
    seen.push(...listening.events())
    lastEventId = seen.at(-1)?.id ?? ''
  }
  const told = await telling.stop()
  await using server = await aServer(db.databaseUrl)
  const listening = await listenTo(`${server.url}/v1/events?scope=crash`, { lastEventId: lastEventId ?? '' })
  await waitFor(() => (seen.length + listening.events().length >= told ? true : undefined))
  seen.push(...listening.events())
  const numbers = seen.map(({ detail }) => detail.number).toSorted((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: told }, (_, i) => i))
  const ids = seen.map(({ id }) => Number(id))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test('of two servers one is killed: each event becomes one delivery, and each is taken', async () => {
  await using db = await database()
  await using first = await aServer(db.databaseUrl)
  await using second = await aServer(db.databaseUrl)
  const held: ServerResponse[] = []
  let isHolding = false
  const receiver = await aReceiver((response) => {
    if (isHolding) held.push(response)
    else response.writeHead(204).end()
  })
  const release = () => {
    isHolding = false
    for (const response of held.splice(0)) response.writeHead(204).end()
  }
  const made = await fetch(`${second.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, scopes: ['crash'] }),
  })
  expect(made.status).toBe(201)
  const telling = teller(db.databaseUrl)
  await receiver.count(100)
  await waitFor(async () => {
    isHolding = true
    await waitFor(() => (held.length === 5 ? true : undefined))
    const { rows } = await db.pool.query(
      `select 1 from millrace.live join millrace.dispatcher on dispatcher.id = live.holder
       where live.state = 'running' and dispatcher.name like $1`,
      [`%:${first.pid}`],
    )
    if (rows.length > 0) return true
    release()
    return undefined
  })
  first.child.kill('SIGKILL')
  await first.exitCode
  // Its lease, which is half a minute, runs out at once.
  await db.pool.query(
    `update millrace.dispatcher set lease_seconds = 1, expires_at = clock_timestamp() where dead_at is null and name like $1`,
    [`%:${first.pid}`],
  )
  release()
  const told = await telling.stop()
  const count = async () => {
    const { rows } = await db.pool.query(
      `select count(*)::int as made, count(distinct event)::int as events,
         (count(*) filter (where outcome = 'succeeded'))::int as taken
       from millrace.webhook_delivery`,
    )
    return rows[0]
  }
  await expect
    .poll(count, { timeout: 2 * PATIENCE_MS, interval: 200 })
    .toEqual({ made: told, events: told, taken: told })
  const numbers = new Set(receiver.received.map(({ body }) => JSON.parse(body).data.detail.number))
  expect(numbers.size).toBe(told)
  // Whatever was sent twice has one id for both.
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
  expect(ids.size).toBe(told)
  expect(receiver.received.length).toBeGreaterThan(told)
})
