// What a step costs must grow with what it does and not with its square: whatever the planner thinks of tables that fill and
// empty within seconds, each task is looked up once.
import pg from 'pg'
import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { add } from './add.ts'
import { register } from './dispatchers.sql.ts'
import { Names } from './names.ts'
import { step } from './step.ts'
import { cancelTasks, failTasks, laneIds, requeueTasks, retryTasks } from './tasks.sql.ts'
import type { AnyWorker } from './worker.ts'

const engine = useEngine()
const MANY = 200

type Plan = {
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

/** Rows of tables that were read for nothing, or compared with each other and did not belong together. */
const removed = (plan: Plan): number =>
  (plan['Rows Removed by Join Filter'] ?? 0) +
  (plan['Relation Name'] === undefined ? 0 : (plan['Rows Removed by Filter'] ?? 0)) +
  (plan.Plans ?? []).reduce((sum, part) => sum + removed(part), 0)

test.each([
  { of: 'an empty store', isEmpty: true },
  { of: 'a store in which nothing runs', isEmpty: false },
])(
  'planned in $of, each task that is added by key, required, claimed, finished, released, failed, put back, canceled or asked for again is looked up once',
  async ({ isEmpty }) => {
    const worker = aWorker()
    const client = new pg.Client({ connectionString: engine.databaseUrl })
    await client.connect()
    const plans: { text: string; plan: Plan }[] = []
    client.on('notice', ({ message = '' }) => {
      const [, json] = /plan:\n(\{.*\})\s*$/s.exec(message) ?? []
      if (json === undefined) return
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: Plan }
      plans.push({ text, plan })
    })
    try {
      await client.query(`load 'auto_explain'`)
      for (const [name, value] of [
        ['log_min_duration', '0'],
        ['log_nested_statements', 'on'],
        ['log_analyze', 'on'],
        ['log_format', 'json'],
        ['log_level', 'notice'],
      ])
        await client.query(`set auto_explain.${name} = '${value}'`)
      // A plan is kept for as long as the connection: the planner believes that it stays so.
      if (isEmpty) {
        await client.query('vacuum analyze')
        await claimer(client, worker, 1).then((claim) => claim())
        const [one] = await engine.millrace.addMany([{ worker, payload: 1 }])
        await engine.millrace.addMany([1, 2].map((payload) => ({ worker, payload, requires: [one?.id as string] })))
        await client.query(`
          with gone as (delete from millrace.edge)
          update millrace.live
          set unmet = 0, state = 'ready', ready_order = nextval('millrace.ready_order'), ready_at = now()
          where state = 'waiting'`)
        await client.query('vacuum analyze')
        const claim = await claimer(client, worker, 1)
        const { ids, epochs } = await claim()
        await claim(ids, epochs)
      }
      await addTo(worker, MANY)
      if (!isEmpty) await client.query('vacuum analyze')
      plans.length = 0
      await goThrough(client, worker, MANY)
    } finally {
      await client.end()
    }
    expect(plans.length).toBeGreaterThan(10)
    const wasteful = plans.filter(({ plan }) => removed(plan) > MANY)
    expect(wasteful.map(({ text, plan }) => `${removed(plan)} for nothing in ${text}`)).toEqual([])
  },
)

async function addTo(worker: AnyWorker, count: number): Promise<void> {
  const added = await engine.millrace.addMany(Array.from({ length: 4 * count }, (_, payload) => ({ worker, payload })))
  await engine.millrace.addMany(added.map(({ id }) => ({ worker, payload: 0, requires: [id] })))
}

/** Adds a task after each of these, twice. */
async function addAfter(client: pg.Client, worker: AnyWorker, ids: readonly string[]): Promise<void> {
  const items = ids.map((id) => ({ worker, payload: 0, key: `after ${id}`, requires: [id], delaySeconds: 1000 }))
  await add(client, new Names(engine.pool), items)
  expect((await add(client, new Names(engine.pool), items)).some(({ isNew }) => isNew)).toBe(false)
}

/** Everything that happens to tasks, with so many at a time. */
async function goThrough(client: pg.Client, worker: AnyWorker, count: number): Promise<void> {
  const claim = await claimer(client, worker, count)
  const first = await claim()
  const second = await claim(first.ids, first.epochs)
  await addAfter(client, worker, first.ids)
  await failTasks(client, { ...second, state: 'failed', errors: second.ids.map(() => null) })
  const third = await claim()
  await requeueTasks(client, { ...third, outcome: 'handed_back', delays: null, errors: null })
  expect(third.ids).toHaveLength(count)
  const ended = await cancelTasks(client, { ids: third.ids, cause: null, actor: null })
  const canceled = ended.map(({ id }) => id)
  expect(canceled).toHaveLength(count)
  await retryTasks(client, { ids: canceled, name: 'retried', cause: null, actor: null })
  const fairly = await claimer(client, worker, count, true)
  const shared = await fairly()
  expect(shared.ids).toHaveLength(count)
  expect((await fairly(shared.ids, shared.epochs)).ids).toHaveLength(count)
}

/** A dispatcher that finishes what it is given and claims so many. */
async function claimer(client: pg.Client, worker: AnyWorker, limit: number, isFair = false) {
  const { ids: lanes } = await laneIds(client, { queues: ['default'], kinds: [worker.kind] })
  const { id: holder } = await register(client, {
    name: 'd',
    lease_seconds: 1000,
    lanes,
    host: 'h',
    facts: '{}',
    before: null,
  })
  return async (ids: readonly string[] = [], epochs: readonly number[] = []) => {
    const { tasks } = await step(client, {
      holder,
      ids,
      epochs,
      outputs: null,
      unchanged: [],
      lanes,
      from_priority: [-100],
      from_order: ['0'],
      limit,
      idle: null,
      is_fair: isFair,
    })
    return { holder, ids: tasks.map(({ id }) => id), epochs: tasks.map(({ epoch }) => epoch) }
  }
}
