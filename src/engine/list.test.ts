import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { aWorker, throwing, useEngine } from '../../test/engine.ts'
import { inForm } from '../../test/long-form.ts'
import { type Db, transaction } from '../db/index.ts'
import { CursorMismatch, InvalidOption, InvalidQuery, PermanentError, type TaskState } from './index.ts'
import { type ListOptions, listTasks, type TaskFilter } from './list.ts'

const engine = useEngine()

const frequent = aWorker()
const rare = aWorker({ queue: 'heavy' })
const broken = throwing(() => new PermanentError('broken'))

type Known = {
  id: string
  state: TaskState
  scope: string
  key: string | null
  kind: string | null
  queue: string | null
  creator: string | null
}
let known: Known[] = []

const KNOWN = `
  select t.id::text, coalesce(l.state, d.state) as state, t.scope, t.key, m.kind, m.queue, t.creator::text
  from millrace.task t left join millrace.live l using (id) left join millrace.done d using (id) left join millrace.lane m on m.id = t.lane
  order by t.id desc
`

// Enough of each to go all ways: what is few, what is many, what is rare among many.
beforeAll(async () => {
  const { millrace, pool } = engine
  const scopeOf = (i: number) =>
    i % 500 === 3 ? 'rare:x' : i % 3 === 0 ? 'default' : i % 3 === 1 ? `archive:${i % 7}` : 'archive:A_%'
  const bulk = (count: number, of: (i: number) => object) =>
    millrace.addMany(
      Array.from({ length: count }, (_, i) => ({
        worker: i % 400 === 5 ? rare : frequent,
        payload: {},
        scope: scopeOf(i),
        ...of(i),
      })),
    )
  const [blocker] = await bulk(1, () => ({ heldBy: 'test' }))
  const finished = await bulk(3000, (i) => (i % 2 === 0 ? { key: `${i}:index` } : {}))
  await transaction(pool, async (tx) => {
    await tx.query('delete from millrace.live where id = any($1)', [finished.map((task) => task.id)])
    await tx.query(
      `insert into millrace.done (id, epoch, state) select id, 1,
        (case when id % 90 = 0 then 'failed' when id % 700 = 1 then 'canceled' when id % 20 = 2 then 'skipped' else 'succeeded' end)::millrace.state
      from unnest($1::bigint[]) id`,
      [finished.map((task) => task.id)],
    )
    await tx.query(`update millrace.task set creator = $1 where id % 1000 = 10 and id = any($2)`, [
      finished[0]?.id,
      finished.map((task) => task.id),
    ])
  })
  await pool.query(`select brin_summarize_new_values('millrace.task_search')`)
  await bulk(3200, () => ({ requires: [blocker?.id as string] }))
  await bulk(30, () => ({ delaySeconds: 1000 }))
  await bulk(30, () => ({ heldBy: 'test' }))
  await millrace.addMilestone({ scope: 'archive:1', key: 'COMMIT' })
  await millrace.add(broken, {}, { scope: 'default' })
  await engine.drain(broken)
  const dispatcher = await engine.byHand([frequent])
  await bulk(20, () => ({}))
  await dispatcher.claim(5)
  known = (await pool.query<Known>(KNOWN)).rows
})

async function listAll(options: ListOptions): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  for (let page = 0; page < 500; page += 1) {
    const { items, next } = await listTasks(engine.pool, { ...options, ...(cursor === null ? {} : { cursor }) })
    expect(items.length).toBeLessThanOrEqual(options.limit ?? 50)
    ids.push(...items.map((item) => item.id))
    if (next === null) return ids
    cursor = next
  }
  throw new Error('the list does not end')
}

function expected(filter: TaskFilter, word?: string): string[] {
  return known
    .filter((task) => filter.state === undefined || filter.state.includes(task.state))
    .filter((task) => filter.scope === undefined || task.scope === filter.scope)
    .filter((task) => filter.scopePrefix === undefined || task.scope.startsWith(filter.scopePrefix))
    .filter((task) => filter.kind === undefined || task.kind === filter.kind)
    .filter((task) => filter.queue === undefined || task.queue === filter.queue)
    .filter((task) => filter.creator === undefined || task.creator === filter.creator)
    .filter(
      (task) => word === undefined || `${task.scope} ${task.key} ${task.kind} ${task.id}`.toLowerCase().includes(word),
    )
    .map((task) => task.id)
}

describe('filters', () => {
  test('whatever is asked for together, a list holds all that meets it and nothing else, newest first', async () => {
    const states: readonly TaskState[] = [
      'waiting',
      'delayed',
      'ready',
      'running',
      'held',
      'succeeded',
      'failed',
      'canceled',
      'skipped',
    ]
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })
    const filter = fc.record({
      state: maybe(fc.uniqueArray(fc.constantFrom(...states), { minLength: 1, maxLength: 4 })),
      scope: maybe(fc.constantFrom('default', 'rare:x', 'archive:1', 'archive:A_%', 'nobody')),
      scopePrefix: maybe(fc.constantFrom('archive:', 'archive:A', 'rare', 'zz', '')),
      kind: maybe(fc.constantFrom(frequent.kind, rare.kind, broken.kind, 'nothing')),
      queue: maybe(fc.constantFrom('default', 'heavy')),
      creator: maybe(fc.constantFrom('2', '3')),
      word: maybe(fc.constantFrom('index', 'a_%', 'rare', 'x')),
      budgetMs: fc.constantFrom(1, 1000),
      limit: fc.constantFrom(7, 1000),
    })
    await fc.assert(
      fc.asyncProperty(filter, async ({ word, budgetMs, limit, ...given }) => {
        const filter = Object.fromEntries(
          Object.entries(given).filter(([, value]) => value !== undefined),
        ) as TaskFilter
        const wanted = expected(filter, word)
        // Small pages only where the list is short.
        const options = { ...filter, limit: wanted.length > 50 ? 1000 : limit, budgetMs }
        const found = await listAll(word === undefined ? options : { ...options, text: `"${word}"` })
        expect(found).toEqual(wanted)
      }),
      { numRuns: inForm(50, 150), interruptAfterTimeLimit: 20_000 },
    )
  })

  test('a search asks for the same as the fields do', async () => {
    const both = async (text: string, filter: TaskFilter) =>
      expect(await listAll({ text, limit: 1000 })).toEqual(expected(filter))
    await both('state:failed,canceled', { state: ['failed', 'canceled'] })
    await both('state:held state:delayed scope:archive:1', { state: ['held', 'delayed'], scope: 'archive:1' })
    await both(`kind:${rare.kind} queue:heavy state:waiting`, { kind: rare.kind, queue: 'heavy', state: ['waiting'] })
    await both('scope:rare* state:waiting', { scopePrefix: 'rare', state: ['waiting'] })
    expect(await listAll({ text: 'scope:rare:x scope:archive:*', limit: 1000 })).toEqual(
      known.filter((task) => task.scope === 'rare:x' || task.scope.startsWith('archive:')).map((task) => task.id),
    )
    expect(await listAll({ text: 'scope:default', scopePrefix: 'archive:' })).toEqual([])
    expect(await listAll({ text: 'state:failed', state: ['ready'] })).toEqual([])
  })

  test('a task is found by its key in a scope, by a part of its key, and by its id', async () => {
    const task = known.find((one) => one.key === '6:index') as Known
    expect(await listAll({ text: `scope:${task.scope} key:6:index` })).toEqual([task.id])
    expect(await listAll({ text: 'key:6:index' })).toEqual([task.id])
    expect(await listAll({ text: 'key:6:*' })).toEqual([task.id])
    expect(await listAll({ text: `id:${task.id}` })).toEqual([task.id])
    expect(await listAll({ text: `id:${task.id} key:6:index scope:${task.scope}` })).toEqual([task.id])
    expect(await listAll({ text: `id:${task.id} key:8:index scope:${task.scope}` })).toEqual([])
  })

  test('what nobody performs is stuck', async () => {
    const lonely = aWorker()
    const id = await engine.add(lonely)
    expect(await listAll({ text: 'is:stuck', kind: lonely.kind })).toEqual([id])
    await engine.dispatch([lonely])
    expect(await listAll({ text: 'is:stuck', kind: lonely.kind })).toEqual([])
    known = (await engine.pool.query<Known>(KNOWN)).rows
  })
})

describe('pages', () => {
  test('an item says what a list shows', async () => {
    const [task] = (await listTasks(engine.pool, { kind: broken.kind })).items
    expect(task).toMatchObject({
      kind: broken.kind,
      scope: 'default',
      state: 'failed',
      queue: 'default',
      isCanceling: false,
    })
    expect(task?.finishedAt).toBeInstanceOf(Date)
    expect(task?.dispatcher?.name).toBe('testing')
    expect(Object.keys(task ?? {})).not.toContain('payload')
  })

  test('a cursor belongs to its filter', async () => {
    const { next } = await listTasks(engine.pool, { scope: 'default', limit: 1 })
    const cursor = next as string
    await expect(listTasks(engine.pool, { scope: 'default', limit: 2, cursor })).resolves.toBeDefined()
    for (const other of [{ cursor }, { scope: 'archive:1', cursor }, { scope: 'default', cursor: 'nonsense' }])
      await expect(listTasks(engine.pool, other)).rejects.toBeInstanceOf(CursorMismatch)
  })

  test('what is added meanwhile does not move what comes next', async () => {
    const first = await listTasks(engine.pool, { scope: 'default', limit: 3 })
    await engine.millrace.addMany([{ worker: frequent, payload: {}, scope: 'default', heldBy: 'test' }])
    const second = await listTasks(engine.pool, { scope: 'default', limit: 3, cursor: first.next as string })
    expect([...first.items, ...second.items].map((task) => task.id)).toEqual(expected({ scope: 'default' }).slice(0, 6))
  })

  test('what cannot be asked for is refused', async () => {
    await expect(listTasks(engine.pool, { limit: 0 })).rejects.toBeInstanceOf(InvalidOption)
    await expect(listTasks(engine.pool, { limit: 1001 })).rejects.toBeInstanceOf(InvalidOption)
    await expect(listTasks(engine.pool, { state: ['gone' as TaskState] })).rejects.toBeInstanceOf(InvalidOption)
    await expect(listTasks(engine.pool, { text: 'colour:red' })).rejects.toBeInstanceOf(InvalidQuery)
  })
})

test('counts of a small store are exact', async () => {
  const counts = await engine.millrace.count()
  const { rows } = await engine.pool.query<{ state: TaskState; n: number }>(
    `select state, count(*)::int as n from (select state from millrace.live union all select state from millrace.done) s group by state`,
  )
  for (const { state, n } of rows) expect([state, counts[state]]).toEqual([state, { count: n, isExact: true }])
})

test('a task that leaves the wanted state while it is being listed is not listed', async () => {
  const scope = 'moving'
  const [moving, staying] = await Promise.all([engine.add(frequent, { scope }), engine.add(frequent, { scope })])
  const db: Db = {
    async query(statement) {
      const answer = await engine.pool.query(statement)
      if (statement.text.includes('millrace.list_tasks(')) await engine.millrace.cancel(moving as string)
      return answer
    },
  }
  const { items } = await listTasks(db, { scope, state: ['ready'] })
  expect(items.map(({ id, state }) => ({ id, state }))).toEqual([{ id: staying, state: 'ready' }])
})
