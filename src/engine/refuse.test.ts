// What adding tasks refuses: each by a named class that says what and where, with nothing stored.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { anything, aWorker, expectRefusal, type Refusal, useEngine } from '../../test/engine.ts'
import type { AddItem } from './add-options.ts'
import {
  CycleRefused,
  InvalidOption,
  InvalidPayload,
  IsolationRefused,
  KeyConflict,
  TaskNotFound,
  UnknownKind,
} from './errors.ts'
import { type AnyWorker, defineWorker } from './worker.ts'

const engine = useEngine()

const refuses = (call: () => Promise<unknown>, of: Refusal) => expectRefusal(engine, call, of)

test('an unknown kind, naming it', async () => {
  const error = await refuses(() => engine.millrace.add('no.such', {}), UnknownKind)
  expect(error.message).toContain('"no.such"')
})

test('a kind by name is taken once its worker is defined', async () => {
  const worker = aWorker()
  await refuses(() => engine.millrace.add(worker.kind, 1), UnknownKind)
  engine.millrace.define(worker)
  expect((await engine.millrace.add(worker.kind, 1)).isNew).toBe(true)
})

test('two workers of one kind', () => {
  const worker = aWorker()
  engine.millrace.define(worker)
  expect(() => engine.millrace.define({ ...worker })).toThrow(InvalidOption)
})

const typed = defineWorker({
  kind: 'add.typed',
  payload: z.object({ page: z.object({ url: z.url() }), n: z.number() }),
  work: () => undefined,
})

test('a payload that does not fit the schema, saying where', async () => {
  const wrong = { page: { url: 'nowhere' }, n: 'x' } as never
  const error = await refuses(() => engine.millrace.add(typed, wrong), InvalidPayload)
  expect((error as InvalidPayload).issues.map(({ path }) => path)).toEqual(['page.url', 'n'])
  expect(error.message).toMatch(/page\.url.*n:/)
})

test('a payload among many, saying which', async () => {
  const worker = aWorker()
  const items = [
    { worker, payload: 1 },
    { worker: typed, payload: {} },
  ]
  expect((await refuses(() => engine.millrace.addMany(items), InvalidPayload)).message).toContain('item 1')
})

test.each<[string, Partial<AddItem>, Refusal]>([
  ['an unknown kind', { worker: 'no.such', payload: 1 }, UnknownKind],
  ['a missing prerequisite', { requires: ['999999999'] }, TaskNotFound],
  ['a missing prerequisite with a condition', { requires: [{ task: '999999999', when: 'failed' }] }, TaskNotFound],
  ['a missing item', { requires: [{ item: 7 }] }, TaskNotFound],
  ['a missing task to cancel', { cancels: ['999999999'] }, TaskNotFound],
  ['a key that is taken', { key: 'taken among many', payload: 2 }, KeyConflict],
  ['a bad option', { priority: 1.5 }, InvalidOption],
  ['a bad condition', { requires: [{ task: '1', when: 'done' as never }] }, InvalidOption],
])('%s among many, saying in which item', async (_what, wrong, of) => {
  const worker = aWorker()
  if (of === KeyConflict) await engine.add(worker, { key: 'taken among many' }, 1)
  const items = [{ worker, payload: 1 }, { worker, payload: 1, ...wrong } as AddItem, { worker, payload: 1 }]
  expect((await refuses(() => engine.millrace.addMany(items), of)).message).toMatch(/ \(item 1\)$/)
})

test.each([
  ['a NUL character', 'a\u0000b'],
  ['half a surrogate pair', 'a\ud800b'],
  ['a NUL character in a name', { 'a\u0000': 1 }],
])('a payload with %s', async (_what, payload) => {
  await refuses(() => engine.add(aWorker(), {}, payload), InvalidPayload)
})

test('a payload that only looks like a NUL character is kept as it is', async () => {
  const payload = { text: '\\u0000', more: 'back\\\\u0000', smile: '😀' }
  const id = await engine.add(aWorker(), {}, payload)
  expect((await engine.millrace.task(id)).payload).toEqual(payload)
})

test('a payload that is not JSON', async () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  await refuses(() => engine.add(aWorker(), {}, circle), InvalidPayload)
  await refuses(() => engine.add(aWorker(), {}, { big: 1n }), InvalidPayload)
})

test.each(['key', 'scope', 'queue', 'heldBy', 'actor'])('a NUL character in %s', async (name) => {
  expect((await refuses(() => engine.add(aWorker(), { [name]: 'a\u0000' }), InvalidOption)).message).toContain(name)
})

test('a NUL character in the name of a lock or a limit', async () => {
  await refuses(() => engine.add(aWorker(), { locks: ['a\u0000'] }), InvalidOption)
  await refuses(() => engine.add(aWorker(), { limit: { group: 'a\u0000', max: 1 } }), InvalidOption)
})

test('a prerequisite that does not exist, naming it', async () => {
  const error = await refuses(() => engine.add(aWorker(), { requires: ['999999999'] }), TaskNotFound)
  expect(error).toMatchObject({ code: 'task_not_found', task: '999999999' })
})

test.each(['', 'abc', '-1', '0', '1.5', '99999999999999999999999'])('"%s" as the id of a prerequisite', async (id) => {
  await refuses(() => engine.add(aWorker(), { requires: [id] }), TaskNotFound)
})

test('a task to cancel that does not exist', async () => {
  await refuses(() => engine.add(aWorker(), { cancels: ['999999999'] }), TaskNotFound)
})

test('an item of the call that does not exist', async () => {
  const worker = aWorker()
  await refuses(() => engine.millrace.addMany([{ worker, payload: 1, requires: [{ item: 1 }] }]), TaskNotFound)
})

test('a cycle within a call, naming its path', async () => {
  const worker = aWorker()
  const items = [
    { worker, payload: 0, requires: [{ item: 2 }] },
    { worker, payload: 1, requires: [{ item: 0 }] },
    { worker, payload: 2, requires: [{ item: 1 }] },
    { worker, payload: 3 },
  ]
  const error = await refuses(() => engine.millrace.addMany(items), CycleRefused)
  expect((error as CycleRefused).path).toEqual(['item 0', 'item 2', 'item 1', 'item 0'])
})

test('an item that requires itself', async () => {
  const worker = aWorker()
  await refuses(() => engine.millrace.addMany([{ worker, payload: 1, requires: [{ item: 0 }] }]), CycleRefused)
})

test('a cycle within a call that closes through a key that is there', async () => {
  const worker = aWorker()
  const [, below] = await engine.millrace.addMany([
    { worker, payload: 1, key: 'cycle' },
    { worker, payload: 2, requires: [{ item: 0 }] },
  ])
  // The key answers the task above `below`: an existing task takes no requirements, so nothing can close.
  await engine.millrace.add(worker, 1, { key: 'cycle', requires: [below?.id as string] })
  expect(await engine.unmet(below?.id as string)).toEqual([1])
  await engine.drain(worker)
  expect(await engine.states(below?.id as string)).toEqual(['succeeded'])
})

test.each([
  ['priority', { priority: 1.5 }],
  ['priority', { priority: 2 ** 31 }],
  ['maxAttempts', { maxAttempts: 0 }],
  ['maxAttempts', { maxAttempts: 40_000 }],
  ['delaySeconds', { delaySeconds: -1 }],
  ['delaySeconds', { delaySeconds: Number.NaN }],
  ['notBefore', { notBefore: new Date('never') }],
  ['limit', { limit: { group: 'g', max: 0 } }],
  ['succeeded, failed or finished', { requires: [{ task: '1', when: 'done' as never }] }],
])('a bad %s', async (what, options) => {
  expect((await refuses(() => engine.add(aWorker(), options), InvalidOption)).message).toContain(what)
})

test.each([
  ['an empty kind', { kind: '' }],
  ['a kind with a control character', { kind: 'a\nb' }],
  ['a kind with a NUL character', { kind: 'a\u0000b' }],
  ['a kind that is too long', { kind: 'k'.repeat(1001) }],
  ['an empty queue', { queue: '' }],
  ['a queue with a control character', { queue: '\t' }],
  ['no attempts', { maxAttempts: 0 }],
  ['no schema', { payload: {} as never }],
  ['no work', { work: undefined as never }],
])('a worker with %s, when it is defined', (_what, wrong) => {
  expect(() => defineWorker({ kind: 'refuse.worker', payload: anything, work: () => 1, ...wrong })).toThrow(
    InvalidOption,
  )
})

test('a worker that was not defined, when it is used', async () => {
  const worker = { ...aWorker(), kind: '' }
  await refuses(() => engine.add(worker), InvalidOption)
  expect(() => engine.millrace.dispatch([worker])).toThrow(InvalidOption)
})

describe('a transaction of the caller', () => {
  const addIn = async (begin: string, worker: AnyWorker) => {
    const client = await engine.pool.connect()
    try {
      await client.query(begin)
      return await engine.millrace.add(worker, {}, { client })
    } finally {
      await client.query('rollback')
      client.release()
    }
  }

  test.each(['repeatable read', 'serializable'])('that is %s, with the remedy', async (level) => {
    const error = await refuses(() => addIn(`begin isolation level ${level}`, aWorker()), IsolationRefused)
    expect(error).toMatchObject({
      code: 'isolation_refused',
      message: expect.stringContaining(level.toUpperCase()),
      remedy: 'begin the transaction with `isolation level read committed`',
    })
  })

  test('but not one that is READ UNCOMMITTED, which is the same as READ COMMITTED', async () => {
    const add = () => addIn('begin isolation level read uncommitted', aWorker())
    expect(await add()).toMatchObject({ isNew: true })
  })
})

test('a key that is longer than an index entry can be', async () => {
  await refuses(() => engine.add(aWorker(), { key: randomText(9000) }), InvalidOption)
})

/** Text that does not compress. */
function randomText(length: number): string {
  return Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36)).join('')
}
