import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { anApp, type TestApp } from '../../test/app.ts'
import { route } from '../api/index.ts'
import { addRoute } from './add-route.ts'

const make = route({
  method: 'POST',
  path: '/v1/things/{shelf}',
  name: 'things.make',
  summary: 'Test',
  access: { role: 'submitter' },
  params: z.strictObject({ shelf: z.string() }),
  body: z.strictObject({ name: z.string() }),
  isCreating: true,
  answers: { 201: z.object({ count: z.int() }), 200: z.object({ count: z.int() }) },
})
const touch = route({ ...make, path: '/v1/touched/{shelf}', name: 'things.touch', isCreating: false })

let app: TestApp
let hold: Promise<void> | undefined
let begun = () => {}
beforeAll(async () => {
  app = await anApp({
    resources: [
      (server) => {
        for (const each of [make, touch]) {
          addRoute(server, each, ({ body, reply, once }) =>
            once(async (tx) => {
              if (body.name === 'bad') throw Object.assign(new Error('it is bad'), { code: 'conflict' })
              const { rows } = await tx.query(
                'insert into thing values ($1) returning (select count(*)::int from thing)',
                [body.name],
              )
              reply.status(body.name === 'known' ? 200 : 201)
              reply.header('location', `/v1/things/${body.name}`)
              begun()
              await hold
              return { count: rows[0].count }
            }),
          )
        }
      },
    ],
  })
  await app.database.pool.query('create table thing (name text)')
})
afterAll(() => app[Symbol.asyncDispose]())

const ask = (key: string, body: unknown, path = '/v1/things/a') =>
  app.ask('POST', path, { body, headers: { 'idempotency-key': key } })

test('a repetition gets the first answer: status, body, and where the thing is', async () => {
  for (const [key, name, status] of [
    ['one', 'new', 201],
    ['two', 'known', 200],
  ] as const) {
    const first = await ask(key, { name })
    const again = await ask(key, { name })
    expect([first.status, again.status]).toEqual([status, status])
    expect(again.json).toEqual(first.json)
    expect(again.headers.get('location')).toBe(`/v1/things/${name}`)
    expect([first, again].map((reply) => reply.headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  }
})

test('the same key with another body or path is refused', async () => {
  await ask('three', { name: 'x' })
  for (const reply of [await ask('three', { name: 'y' }), await ask('three', { name: 'x' }, '/v1/things/b')]) {
    expect(reply.json).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
  }
})

test('a repetition that comes too early is told so', async () => {
  let finish = () => {}
  hold = new Promise<void>((resolve) => {
    finish = resolve
  })
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const first = ask('four', { name: 'x' })
  await isBegun
  expect((await ask('four', { name: 'x' })).json).toMatchObject({ status: 409, code: 'idempotency_busy' })
  finish()
  hold = undefined
  expect((await first).status).toBe(201)
  expect((await ask('four', { name: 'x' })).headers.get('idempotency-replayed')).toBe('true')
})

test('what was refused is tried again', async () => {
  for (const _ of [1, 2]) {
    const reply = await ask('five', { name: 'bad' })
    expect(reply.json).toMatchObject({ code: 'conflict' })
    expect(reply.headers.get('idempotency-replayed')).toBeNull()
  }
})

test('a key that is none is refused', async () => {
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    expect((await ask(key, { name: 'x' })).json, key).toMatchObject({ status: 400, code: 'invalid' })
  }
})

test('a route that does not create knows no key', async () => {
  const first = await ask('six', { name: 'x' }, '/v1/touched/a')
  const again = await ask('six', { name: 'x' }, '/v1/touched/a')
  expect(again.json.count).toBe(first.json.count + 1)
})
