import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { onceIn, type RequestKey, type Tx } from './once.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
  await db.pool.query('create table made (name text)')
})
afterAll(() => db[Symbol.asyncDispose]())

const digest = (text: string) => createHash('sha256').update(text).digest()
const keyed = (key: string, more: Partial<RequestKey> = {}): RequestKey => ({
  key,
  actor: 'admin',
  fingerprint: digest('a body'),
  ...more,
})
const make = (name: string) => async (tx: Tx) => {
  await tx.query('insert into made values ($1)', [name])
  return name
}
const keep = (body: string) => ({ status: 201, headers: { location: '/x' }, body: JSON.stringify(body) })
const once = (key: RequestKey | undefined, work: (tx: Tx) => Promise<string>) => onceIn(db.pool)(key, work, keep)
const countOf = async (name: string) =>
  (await db.pool.query('select count(*)::int as count from made where name = $1', [name])).rows[0].count

test('a repetition has no effect and is given the first answer', async () => {
  expect(await once(keyed('k1'), make('one'))).toEqual({ done: 'one' })
  const again = await once(keyed('k1'), make('one'))
  expect(again).toEqual({
    replayed: expect.objectContaining({ status: 201, headers: { location: '/x' }, body: '"one"' }),
  })
  expect(await countOf('one')).toBe(1)
})

test('without a key every request counts', async () => {
  await once(undefined, make('many'))
  await once(undefined, make('many'))
  expect(await countOf('many')).toBe(2)
})

test('the same key for another request is refused', async () => {
  await once(keyed('k2'), make('two'))
  const other = keyed('k2', { fingerprint: digest('another body') })
  await expect(once(other, make('other'))).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  expect(await countOf('other')).toBe(0)
})

test('keys of different callers have nothing to do with each other', async () => {
  await once(keyed('k3'), make('three'))
  expect(await once(keyed('k3', { actor: 'token:ci' }), make('three'))).toEqual({ done: 'three' })
  expect(await countOf('three')).toBe(2)
})

test('while the first is under way a repetition is told so, and neither waits nor acts', async () => {
  let finish = () => {}
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const first = once(keyed('k4'), async (tx) => {
    begun()
    await isFinished
    return make('four')(tx)
  })
  await isBegun
  await expect(once(keyed('k4'), make('four'))).rejects.toMatchObject({ code: 'idempotency_busy' })
  finish()
  await first
  expect(await countOf('four')).toBe(1)
})

test('what failed left nothing behind and runs anew', async () => {
  const failing = async (tx: Tx): Promise<string> => {
    await make('five')(tx)
    throw new Error('no')
  }
  await expect(once(keyed('k5'), failing)).rejects.toThrow('no')
  expect(await countOf('five')).toBe(0)
  expect(await once(keyed('k5'), make('five'))).toEqual({ done: 'five' })
})

test('of many at once exactly one acts', async () => {
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => once(keyed('k6'), make('six'))))
  expect(await countOf('six')).toBe(1)
  const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
  expect(refused.every(({ reason }) => reason.code === 'idempotency_busy')).toBe(true)
})

test('a process that dies after the effect and before the answer leaves both or none', async () => {
  const dying = async (tx: Tx): Promise<string> => {
    await make('seven')(tx)
    const { rows } = await tx.query('select pg_backend_pid() as pid')
    await db.pool.query('select pg_terminate_backend($1)', [rows[0].pid])
    return 'seven'
  }
  await expect(once(keyed('k7'), dying)).rejects.toThrow()
  expect(await countOf('seven')).toBe(0)
  expect(await once(keyed('k7'), make('seven'))).toEqual({ done: 'seven' })
})

test('a key is forgotten after 24 hours', async () => {
  await once(keyed('k8'), make('eight'))
  await db.pool.query("update millrace.first_answer set answered_at = answered_at - interval '24 hours'")
  const other = keyed('k8', { fingerprint: digest('another body') })
  expect(await once(other, make('eight'))).toEqual({ done: 'eight' })
  expect(await once(other, make('eight'))).toHaveProperty('replayed')
})
