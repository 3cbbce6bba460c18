// Interleavings that once broke a promise, each step by step.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { add } from '../../src/engine/add.ts'
import { register } from '../../src/engine/dispatchers.sql.ts'
import { Names } from '../../src/engine/names.ts'
import { verify } from '../../src/engine/reads.sql.ts'
import { step } from '../../src/engine/step.ts'
import {
  cancelTasks,
  failTasks,
  holdTasks,
  laneIds,
  requireTasks,
  retryTasks,
  succeedTask,
} from '../../src/engine/tasks.sql.ts'
import { database, type TestDatabase } from '../database.ts'
import { type Session, sessions } from './session.ts'

let db: TestDatabase
let names: Names
let lane: number
let holder: number
let a: Session
let b: Session
let c: Session
let monitor: Session

beforeAll(async () => {
  db = await database()
  ;[a, b, c, monitor] = (await sessions(db.databaseUrl, 4)) as [Session, Session, Session, Session]
  const { ids } = await laneIds(db.pool, { queues: ['default'], kinds: ['k'] })
  lane = ids[0] as number
  names = new Names(db.pool)
})
beforeEach(async () => {
  for (const session of [a, b, c]) if (session.isOpen) await session.end('rollback')
  await db.pool.query(
    'truncate millrace.task, millrace.live, millrace.done, millrace.edge, millrace.effect, millrace.gate',
  )
  holder = (
    await register(db.pool, { name: 'd', lease_seconds: 1000, lanes: [lane], host: 'h', facts: '{}', before: null })
  ).id
})
afterAll(async () => {
  for (const session of [a, b, c, monitor]) await session.close()
  await db[Symbol.asyncDispose]()
})

const record = { cause: null, actor: null }
const one = async (client: Session['client'] | TestDatabase['pool'], options: object = {}): Promise<string> =>
  (await add(client, names, [{ worker: 'k', payload: {}, ...options }]))[0]?.id as string
const claimAll = async (limit = 100) =>
  (
    await step(db.pool, {
      holder,
      ids: [],
      epochs: [],
      outputs: null,
      unchanged: [],
      lanes: [lane],
      from_priority: [-100],
      from_order: ['0'],
      limit,
      idle: null,
    })
  ).tasks
const finish = (id: string, epoch: number, client: Parameters<typeof step>[0] = db.pool, limit = 0) =>
  step(client, {
    holder,
    ids: [id],
    epochs: [epoch],
    outputs: null,
    unchanged: [],
    lanes: [lane],
    from_priority: [-100],
    from_order: ['0'],
    limit,
    idle: null,
  })
async function fail(...ids: string[]): Promise<void> {
  const claimed = (await claimAll()).filter((row) => ids.includes(row.id as string))
  await failTasks(db.pool, {
    holder,
    ids,
    epochs: ids.map((id) => claimed.find((row) => row.id === id)?.epoch as number),
    state: 'failed',
    errors: ids.map(() => null),
  })
}
const stateOf = async (id: string): Promise<string> =>
  (
    await db.pool.query(
      `select coalesce((select state::text from millrace.live where id = $1), (select state::text from millrace.done where id = $1)) as s`,
      [id],
    )
  ).rows[0].s

test('retrying a culprit revives what another transaction skips further down at that moment', async () => {
  const culprit = await one(db.pool)
  const middle = await one(db.pool, { requires: [culprit] })
  await fail(culprit)
  expect(await stateOf(middle)).toBe('skipped')
  await a.begin()
  const last = await one(a.client, { requires: [middle] })
  const retrying = b.start((client) => retryTasks(client, { ids: [culprit], name: 'retried', ...record }))
  expect(await b.settled(monitor.client)).toBe(false)
  await a.end('commit')
  await retrying
  expect([await stateOf(middle), await stateOf(last)]).toEqual(['waiting', 'waiting'])
  expect(await verify(db.pool, {})).toEqual([])
})

test('two transactions that each add a task between two others cannot close a cycle together', async () => {
  const left = await one(db.pool, { heldBy: 'test' })
  const right = await one(db.pool, { heldBy: 'test' })
  const require = (session: Session, dependent: string, prerequisite: string) =>
    session.start((client) =>
      requireTasks(client, {
        dependent,
        prerequisites: [prerequisite],
        conditions: ['succeeded'],
        holder: null,
        epoch: null,
      }),
    )
  await a.begin()
  await b.begin()
  const oneMore = await one(a.client, { requires: [left] })
  const two = await one(b.client, { requires: [right] })
  const first = require(a, right, oneMore)
  await a.settled(monitor.client)
  const second = require(b, left, two)
  await b.settled(monitor.client)
  const ended = await Promise.race([first.then(() => a), second.then(() => b)])
  await ended.end('commit')
  const outcomes = [await first, await second]
  await (ended === a ? b : a).end('commit')
  expect(outcomes.filter((outcome) => 'error' in outcome)).toHaveLength(1)
})

test('a release that was put off for a task is void once the task is asked for again', async () => {
  const before = await one(db.pool)
  const after = await one(db.pool, { requires: [before] })
  const claimed = await claimAll()
  // `after` is being canceled by a transaction that lasts, so its release is put off, and then put off once more.
  await a.begin()
  await cancelTasks(a.client, { ids: [after], ...record })
  await finish(before, claimed[0]?.epoch as number)
  await b.begin()
  await b.client.query('select millrace.pump()')
  await a.end('commit')
  const retrying = c.start((client) => retryTasks(client, { ids: [after], name: 'retried', ...record }))
  await c.settled(monitor.client)
  await b.end('commit')
  await retrying
  expect(await verify(db.pool, {})).toEqual([])
  await db.pool.query('select millrace.pump()')
  expect(await stateOf(after)).toBe('ready')
})

test('raising a limit lets in who queues, even when the task that raised it does not', async () => {
  const group = (max: number) => ({ limit: { group: 'g', max } })
  await one(db.pool, group(1))
  const second = await one(db.pool, group(1))
  await claimAll()
  await one(db.pool, { ...group(2), heldBy: 'test' })
  expect(await verify(db.pool, {})).toEqual([])
  expect((await claimAll()).map((row) => row.id)).toContain(second)
})

test('a task is skipped for its own culprit though what stands between the two is held at that moment', async () => {
  const culprit = await one(db.pool)
  const between = await one(db.pool, { requires: [culprit] })
  const last = await one(db.pool, { requires: [culprit, between] })
  const claimed = await claimAll()
  await a.begin()
  await holdTasks(a.client, { ids: [between], ...record })
  await failTasks(db.pool, {
    holder,
    ids: [culprit],
    epochs: [claimed[0]?.epoch as number],
    state: 'failed',
    errors: [null],
  })
  await a.end('commit')
  await db.pool.query('select millrace.pump()')
  expect([await stateOf(between), await stateOf(last)]).toEqual(['held', 'skipped'])
  expect(await verify(db.pool, {})).toEqual([])
})

test('what is skipped because of a culprit is not, when the culprit is asked for again at that moment', async () => {
  const culprit = await one(db.pool)
  const last = await one(db.pool, { requires: [culprit] })
  // Somebody has it locked when its culprit fails, so that it is skipped later.
  await a.begin()
  await a.client.query('select from millrace.live where id = $1 for update', [last])
  await fail(culprit)
  await a.end('rollback')
  expect([await stateOf(culprit), await stateOf(last)]).toEqual(['failed', 'waiting'])
  // It is being skipped: that its culprit stands in the way is known, and it is not locked yet.
  await a.begin()
  await a.client.query('lock table millrace.live in access exclusive mode')
  const skipping = b.start((client) => client.query('select millrace.skip_doomed($1, $2)', [[last], [culprit]]))
  expect(await b.settled(monitor.client)).toBe(false)
  const retry = (client: Session['client'] | TestDatabase['pool']) =>
    retryTasks(client, { ids: [culprit], name: 'retried', ...record })
  const retried = await a.start(retry)
  await a.end('commit')
  const skipped = await skipping
  // Neither goes on without the other: one of them is refused by the server, and asks once more.
  expect(['error' in retried, 'error' in skipped]).toContain(true)
  if ('error' in retried) await retry(db.pool)
  await db.pool.query('select millrace.pump()')
  expect([await stateOf(culprit), await stateOf(last)]).toEqual(['ready', 'waiting'])
  expect(await verify(db.pool, {})).toEqual([])
})

test('who retries a culprit and who retries what was skipped because of it do not wait for each other', async () => {
  const culprit = await one(db.pool)
  const skipped = await one(db.pool, { requires: [culprit] })
  await fail(culprit)
  // The first waits for the culprit, and the second, which has found its own task, behind it.
  await c.begin()
  await c.client.query('select from millrace.done where id = $1 for update', [culprit])
  const first = a.start((client) => retryTasks(client, { ids: [culprit], name: 'retried', ...record }))
  expect(await a.settled(monitor.client)).toBe(false)
  const second = b.start((client) => retryTasks(client, { ids: [skipped], name: 'retried', ...record }))
  expect(await b.settled(monitor.client)).toBe(false)
  await c.end('rollback')
  expect([await first, await second].filter((outcome) => 'error' in outcome)).toEqual([])
  expect([await stateOf(culprit), await stateOf(skipped)]).toEqual(['ready', 'waiting'])
  expect(await verify(db.pool, {})).toEqual([])
})

test('what is to run again waits for nobody, and runs once nobody has it locked', async () => {
  const before = await one(db.pool)
  const after = await one(db.pool, { requires: [before] })
  for (const id of [before, after]) await finish(id, (await claimAll())[0]?.epoch as number)
  await retryTasks(db.pool, { ids: [before], name: 'rerun', ...record })
  const [again] = await claimAll()
  // Somebody is about to add a task behind it.
  await a.begin()
  await one(a.client, { requires: [after] })
  const finishing = b.start((client) => finish(before, again?.epoch as number, client))
  expect(await b.settled(monitor.client)).toBe(true)
  await finishing
  expect([await stateOf(before), await stateOf(after)]).toEqual(['succeeded', 'succeeded'])
  await a.end('commit')
  await db.pool.query('select millrace.pump()')
  expect(await stateOf(after)).toBe('ready')
  expect(await verify(db.pool, {})).toEqual([])
})

test('a dispatcher that is found dead in the middle of a step claims nothing any more', async () => {
  const [first, second] = [await one(db.pool), await one(db.pool)]
  const epochs = new Map((await claimAll()).map(({ id, epoch }) => [id, epoch]))
  // With something pending a step tells what succeeded before it claims: there it can be made to wait.
  await db.pool.query(`insert into millrace.effect (kind, ref, n) values ('unblock', 0, 0)`)
  await a.begin()
  await a.client.query('lock table millrace.outbox in access exclusive mode')
  const stepping = b.start((client) => finish(first, epochs.get(first) as number, client, 100))
  expect(await b.settled(monitor.client)).toBe(false)
  await a.client.query(`update millrace.dispatcher set expires_at = now() - interval '1 s' where id = $1`, [holder])
  await a.client.query('select millrace.expire(5)')
  await a.end('commit')
  expect(await stepping).toMatchObject({ value: { accepted: [first], tasks: [] } })
  expect([await stateOf(first), await stateOf(second)]).toEqual(['succeeded', 'ready'])
})

test.each([
  // Its count goes down, and then it is skipped.
  { requires: (id: string) => ({ requires: [{ task: id, when: 'finished' }, id] }), verb: 'cancel' },
  // Its count goes down, and then it ends by itself.
  {
    requires: (id: string) => ({ requires: [id], worker: undefined, payload: undefined, milestone: true }),
    verb: 'succeed',
  },
])(
  'a task that is added while $verb is undone and done anew sees how its requirement ends',
  async ({ requires, verb }) => {
    for (let round = 0; round < 30; round += 1) {
      const first = await one(db.pool)
      const between = await one(db.pool, requires(first))
      const act = async (client: Session['client']): Promise<void> => {
        if (verb === 'cancel') await cancelTasks(client, { ids: [first], ...record })
        else await succeedTask(client, { id: first, ...record })
      }
      for (const session of [a, b, c]) await session.begin()
      await act(a.client)
      const adding = b.start((client) => one(client, { requires: [between] }))
      expect(await b.settled(monitor.client)).toBe(false)
      const acting = c.start(act)
      expect(await c.settled(monitor.client)).toBe(false)
      await a.end('rollback')
      // Either of the two may wait for the other.
      const ended = await Promise.race([adding.then(() => b), acting.then(() => c)])
      await ended.end('commit')
      const outcomes = [await adding, await acting]
      await (ended === b ? c : b).end('commit')
      expect(outcomes.filter((outcome) => 'error' in outcome)).toEqual([])
      await db.pool.query('select millrace.pump()')
      expect(await verify(db.pool, {})).toEqual([])
    }
  },
)
