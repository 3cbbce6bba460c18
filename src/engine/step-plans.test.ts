// What a step costs must grow with what it does and not with its square: whatever the planner thinks of tables that fill and
// empty within seconds, each task is looked up once.
import pg from 'pg'
import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { register } from './dispatchers.sql.ts'
import { step } from './step.ts'
import { cancelTasks, failTasks, laneIds, requeueTasks, retryTasks } from './tasks.sql.ts'

const engine = useEngine()
const MANY = 200

type Plan = { readonly 'Rows Removed by Join Filter'?: number; readonly Plans?: readonly Plan[] }

/** Rows that were compared with each other and did not belong together. */
const removed = (plan: Plan): number =>
  (plan['Rows Removed by Join Filter'] ?? 0) + (plan.Plans ?? []).reduce((sum, part) => sum + removed(part), 0)

test('each task that is claimed, finished, failed, put back, canceled or asked for again is looked up once', async () => {
  const worker = aWorker()
  const added = await engine.millrace.addMany(Array.from({ length: 4 * MANY }, (_, payload) => ({ worker, payload })))
  await engine.millrace.addMany(added.map(({ id }) => ({ worker, payload: 0, requires: [id] })))
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
    // Now the planner knows that nothing runs, and believes that it stays so.
    await client.query('vacuum analyze')
    await client.query(`load 'auto_explain'`)
    for (const [name, value] of [
      ['log_min_duration', '0'],
      ['log_nested_statements', 'on'],
      ['log_analyze', 'on'],
      ['log_format', 'json'],
      ['log_level', 'notice'],
    ])
      await client.query(`set auto_explain.${name} = '${value}'`)
    const { ids: lanes } = await laneIds(client, { queues: ['default'], kinds: [worker.kind] })
    const { id: holder } = await register(client, {
      name: 'd',
      lease_seconds: 1000,
      lanes,
      host: 'h',
      facts: '{}',
      before: null,
    })
    const claim = async (ids: readonly string[] = [], epochs: readonly number[] = []) => {
      const { tasks } = await step(client, {
        holder,
        ids,
        epochs,
        outputs: null,
        unchanged: [],
        lanes,
        from_priority: [-100],
        from_order: ['0'],
        limit: MANY,
        idle: null,
      })
      return { holder, ids: tasks.map(({ id }) => id), epochs: tasks.map(({ epoch }) => epoch) }
    }
    const first = await claim()
    const second = await claim(first.ids, first.epochs)
    await failTasks(client, { ...second, state: 'failed', errors: second.ids.map(() => null) })
    const third = await claim()
    await requeueTasks(client, { ...third, outcome: 'handed_back', delays: null, errors: null })
    expect(third.ids).toHaveLength(MANY)
    const ended = await cancelTasks(client, { ids: third.ids, cause: null, actor: null })
    const canceled = ended.map(({ id }) => id)
    expect(canceled).toHaveLength(MANY)
    await retryTasks(client, { ids: canceled, name: 'retried', cause: null, actor: null })
  } finally {
    await client.end()
  }
  expect(plans.length).toBeGreaterThan(10)
  const wasteful = plans.filter(({ plan }) => removed(plan) > MANY)
  expect(wasteful.map(({ text, plan }) => `${removed(plan)} for nothing in ${text}`)).toEqual([])
})
