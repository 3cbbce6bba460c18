import { describe, expect, test } from 'vitest'
import { aWorker, expectRefusal, type Refusal, useEngine } from '../../test/engine.ts'
import type { Client } from '../db/index.ts'
import { KeyConflict, TaskNotFound } from './errors.ts'
import { PermanentError } from './work-error.ts'
import { type AnyWorker, later } from './worker.ts'

const engine = useEngine()

const refuses = (call: () => Promise<unknown>, of: Refusal) => expectRefusal(engine, call, of)

test('a task without requirements is ready at once', async () => {
  const id = await engine.add(aWorker(), {}, { n: 1 })
  expect(await engine.millrace.task(id)).toMatchObject({
    state: 'ready',
    scope: 'default',
    queue: 'default',
    priority: 0,
    payload: { n: 1 },
    unmet: 0,
    creator: null,
    startedAt: null,
    finishedAt: null,
  })
})

test('each of many keeps its own payload, whatever is in it', async () => {
  const worker = aWorker()
  const payloads = ['one\ntwo\r\n', null, { 'a\n': ['\n', '\\n', '\u2028', '"', ','] }, '', [], 'null', { text: 'ä\t' }]
  for (const keyed of [false, true]) {
    const items = payloads.map((payload, i) => ({ worker, payload, ...(keyed ? { key: `lines ${i}` } : {}) }))
    const added = await engine.millrace.addMany(items)
    const tasks = await Promise.all(added.map(({ id }) => engine.millrace.task(id)))
    expect(tasks.map(({ payload }) => payload)).toEqual(payloads)
  }
})

test('a task keeps what it was added with', async () => {
  const worker = aWorker({ queue: 'heavy', maxAttempts: 4 })
  const id = await engine.add(worker, { scope: 'archive:A', key: 'A@1', priority: -3, actor: 'ada' }, [1, null, 'ä'])
  expect(await engine.millrace.task(id)).toMatchObject({
    kind: worker.kind,
    queue: 'heavy',
    maxAttempts: 4,
    scope: 'archive:A',
    key: 'A@1',
    priority: -3,
    actor: 'ada',
    payload: [1, null, 'ä'],
  })
  expect((await engine.millrace.task({ scope: 'archive:A', key: 'A@1' })).id).toBe(id)
})

test('many tasks with edges among them are added in one call, in the order given', async () => {
  const worker = aWorker()
  const added = await engine.millrace.addMany([
    { worker, payload: 'last', requires: [{ item: 1 }, { item: 2, when: 'finished' }] },
    { worker, payload: 'first' },
    { worker, payload: 'second' },
  ])
  const ids = added.map(({ id }) => id)
  expect(await engine.states(...ids)).toEqual(['waiting', 'ready', 'ready'])
  expect(await engine.unmet(...ids)).toEqual([2, 0, 0])
  const { performed } = await engine.drain(worker)
  expect(performed.map(({ id }) => id)).toEqual([ids[1], ids[2], ids[0]])
})

test('adding nothing answers nothing', async () => {
  expect(await engine.millrace.addMany([])).toEqual([])
})

test('a requirement that is named twice counts once', async () => {
  const worker = aWorker()
  const first = await engine.add(worker)
  const second = await engine.add(worker, { requires: [first, first, { task: first }] })
  expect(await engine.unmet(second)).toEqual([1])
})

test('a requirement that is met already does not count', async () => {
  const worker = aWorker()
  const first = await engine.add(worker)
  await engine.drain(worker)
  const second = await engine.add(worker, { requires: [first] })
  expect(await engine.states(second)).toEqual(['ready'])
})

test('a task whose requirement can no longer be met is skipped at once', async () => {
  const worker = aWorker({
    work() {
      throw new PermanentError('no')
    },
  })
  const first = await engine.add(worker)
  await engine.drain(worker)
  const second = await engine.add(worker, { requires: [first] })
  expect(await engine.millrace.task(second)).toMatchObject({ state: 'skipped', culprit: first })
})

describe('by key', () => {
  test('the same key and payload answer the task that is there', async () => {
    const worker = aWorker()
    const first = await engine.millrace.add(worker, { a: 1, b: 2 }, { key: 'once' })
    const again = await engine.millrace.add(worker, { b: 2, a: 1 }, { key: 'once' })
    expect(first.isNew).toBe(true)
    expect(again).toEqual({ id: first.id, isNew: false })
    await engine.drain(worker)
    expect(await engine.millrace.add(worker, { a: 1, b: 2 }, { key: 'once' })).toEqual({ id: first.id, isNew: false })
  })

  test('a payload of null is none, with a key and without, beside others and alone', async () => {
    const seen: unknown[] = []
    const worker = aWorker({ work: ({ payload }) => void seen.push(payload) })
    const first = await engine.millrace.add(worker, null, { key: 'nothing' })
    expect(await engine.millrace.add(worker, null, { key: 'nothing' })).toEqual({ id: first.id, isNew: false })
    await engine.millrace.addMany([
      { worker, payload: [null, 'a'] },
      { worker, payload: null },
      { worker, payload: 'b', scope: 'other' },
    ])
    await engine.drain(worker)
    expect(seen).toEqual([null, [null, 'a'], null, 'b'])
  })

  test('a key belongs to its scope', async () => {
    const worker = aWorker()
    const one = await engine.millrace.add(worker, 1, { key: 'k', scope: 'one' })
    const other = await engine.millrace.add(worker, 2, { key: 'k', scope: 'other' })
    expect(other.isNew).toBe(true)
    expect(other.id).not.toBe(one.id)
  })

  test('a key with another payload is refused, naming the task that has it', async () => {
    const worker = aWorker()
    const id = await engine.add(worker, { key: 'conflict' }, 1)
    const error = await refuses(() => engine.add(worker, { key: 'conflict' }, 2), KeyConflict)
    expect(error).toMatchObject({ code: 'key_conflict', task: id })
    expect(error.message).toContain('conflict')
  })

  test('a key with another kind is refused', async () => {
    await engine.add(aWorker(), { key: 'kinds' }, 1)
    await refuses(() => engine.add(aWorker(), { key: 'kinds' }, 1), KeyConflict)
    await refuses(() => engine.millrace.addMilestone({ key: 'kinds' }), KeyConflict)
  })

  test('one conflicting key refuses the whole call', async () => {
    const worker = aWorker()
    await engine.add(worker, { key: 'whole' }, 1)
    const items = [
      { worker, payload: 1, key: 'whole-new' },
      { worker, payload: 2, key: 'whole' },
    ]
    await refuses(() => engine.millrace.addMany(items), KeyConflict)
  })

  test('the same key twice in one call is one task', async () => {
    const worker = aWorker()
    const added = await engine.millrace.addMany([
      { worker, payload: 1, key: 'twice' },
      { worker, payload: 1, key: 'twice' },
    ])
    expect(added[0]?.id).toBe(added[1]?.id)
    expect((await engine.drain(worker)).performed).toHaveLength(1)
  })

  test('the same key twice in one call with different payloads is refused', async () => {
    const worker = aWorker()
    const items = [
      { worker, payload: 1, key: 'torn' },
      { worker, payload: 2, key: 'torn' },
    ]
    await refuses(() => engine.millrace.addMany(items), KeyConflict)
  })

  test('an item that is there already takes no requirements of the call', async () => {
    const worker = aWorker()
    const id = await engine.add(worker, { key: 'there' }, 1)
    const other = await engine.add(worker)
    await engine.millrace.add(worker, 1, { key: 'there', requires: [other] })
    expect(await engine.unmet(id)).toEqual([0])
  })

  test('an edge to an item that is there already leads to the task that is there', async () => {
    const worker = aWorker()
    const id = await engine.add(worker, { key: 'edge' }, 1)
    const [, dependent] = await engine.millrace.addMany([
      { worker, payload: 1, key: 'edge' },
      { worker, payload: 2, requires: [{ item: 0 }] },
    ])
    expect(await engine.millrace.requirements(dependent?.id as string)).toMatchObject([{ id, isMet: false }])
  })
})

describe("in the caller's own transaction", () => {
  const inTransaction = async (body: (client: Client) => Promise<void>, end: 'commit' | 'rollback') => {
    const client = await engine.pool.connect()
    try {
      await client.query('begin')
      await body(client)
      await client.query(end)
    } finally {
      client.release()
    }
  }

  test('a rollback leaves nothing', async () => {
    const worker = aWorker()
    const before = await engine.rows()
    await inTransaction(async (client) => {
      const first = await engine.millrace.add(worker, 1, { client })
      await engine.millrace.add(worker, 2, { client, requires: [first.id] })
      await engine.millrace.addMilestone({ client })
    }, 'rollback')
    expect(await engine.rows()).toEqual(before)
  })

  test('a commit brings task and own rows together, and not before', async () => {
    const worker = aWorker()
    await engine.pool.query('create table arrival (task bigint)')
    await inTransaction(async (client) => {
      const { id } = await engine.millrace.add(worker, 1, { client })
      await client.query('insert into arrival values ($1)', [id])
      expect((await engine.drain(worker)).performed).toEqual([])
      await expect(engine.millrace.task(id)).rejects.toThrow(TaskNotFound)
    }, 'commit')
    const { performed } = await engine.drain(worker)
    expect((await engine.pool.query('select task from arrival')).rows).toEqual([{ task: performed[0]?.id }])
  })
})

describe('the creator', () => {
  test('is the task whose callback added it, through any number of generations', async () => {
    const grandchild = aWorker()
    const child: AnyWorker = aWorker({
      async onSuccess(tx, task) {
        await addDeep(tx, task.payload)
      },
    })
    // Through calls of other functions, which know nothing of the creator.
    const addDeep = async (tx: Parameters<NonNullable<AnyWorker['onSuccess']>>[0], key: string) => {
      await tx.addMany([{ worker: grandchild, payload: key, key: `grandchild ${key}` }])
    }
    const parent = aWorker({
      async onSuccess(tx) {
        await tx.add(child, 'deep', { key: 'child' })
      },
    })
    const id = await engine.add(parent)
    await engine.drain(parent, child, grandchild)
    const first = await engine.millrace.task({ scope: 'default', key: 'child' })
    const second = await engine.millrace.task({ scope: 'default', key: 'grandchild deep' })
    expect([first.creator, second.creator]).toEqual([id, first.id])
  })

  test('is recorded from every callback, and seen by the worker', async () => {
    const creators: unknown[] = []
    const child = aWorker({ work: ({ task }) => void creators.push(task.creator) })
    let isSecond = false
    const rescheduled = aWorker({
      work: () => (isSecond ? undefined : later()),
      async onReschedule(tx) {
        isSecond = true
        await tx.add(child, 1)
      },
    })
    const failing = aWorker({
      work() {
        throw new PermanentError('no')
      },
      async onFailure(tx) {
        await tx.add(child, 2)
      },
    })
    const ids = [await engine.add(rescheduled), await engine.add(failing)]
    await engine.drain(rescheduled)
    await engine.drain(failing)
    await engine.drain(child)
    expect(creators).toEqual(ids)
  })
})
