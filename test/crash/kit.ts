import { expect } from 'vitest'
import type { Pool } from '../../src/db/index.ts'
import { connect, type DispatchOptions, type Millrace } from '../../src/engine/index.ts'
import { database } from '../database.ts'
import { waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import type { ProgramSettings } from './dispatcher-program.ts'
import { CRASH_TABLES, crashWorkers } from './workers.ts'

export type Bench = AsyncDisposable & {
  readonly databaseUrl: string
  readonly pool: Pool
  readonly millrace: Millrace
}

/** A database with the tables of the crash tests, and a handle that adds tasks and looks, but performs none. */
export async function bench(): Promise<Bench> {
  const db = await database()
  await db.pool.query(CRASH_TABLES)
  const millrace = await lookAt(db.databaseUrl)
  return {
    databaseUrl: db.databaseUrl,
    pool: db.pool,
    millrace,
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await db[Symbol.asyncDispose]()
    },
  }
}

/** A handle that knows the workers of the crash tests and performs nothing. */
export async function lookAt(databaseUrl: string): Promise<Millrace> {
  const millrace = await connect({ databaseUrl, poolSize: 4 })
  millrace.define(
    ...crashWorkers({ pool: undefined as unknown as Pool, say: () => {}, released: () => Promise.resolve() }),
  )
  return millrace
}

export type DispatcherProgram = Program & { readonly incarnation: number }

type Start = DispatchOptions & Pick<Partial<ProgramSettings>, 'kinds' | 'isHolding'>

/** Starts a dispatcher in a process of its own and waits until it is registered. */
export async function startDispatcher(databaseUrl: string, start: Start): Promise<DispatcherProgram> {
  const { kinds, isHolding = false, ...options } = start
  const settings = { databaseUrl, options, isHolding, ...(kinds === undefined ? {} : { kinds }) }
  const program = runProgram('test/crash/dispatcher-program.ts', { args: [JSON.stringify(settings)] })
  try {
    const line = await program.line(/^ready /)
    return Object.assign(program, { incarnation: Number(line.split(' ')[1]) })
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
}

export async function kill(program: Program, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  program.child.kill(signal)
  await program.exitCode
}

export const now = async (pool: Pool): Promise<Date> =>
  ((await pool.query('select clock_timestamp() as now')).rows[0] as { now: Date }).now

export async function count(pool: Pool, from: string, values: unknown[] = []): Promise<number> {
  const { rows } = await pool.query(`select count(*)::int as n from ${from}`, values)
  return (rows[0] as { n: number }).n
}

export const untilFinished = (pool: Pool) =>
  waitFor(async () => ((await count(pool, 'millrace.live').catch(() => 1)) === 0 ? true : undefined))

export const untilState = (millrace: Millrace, task: string, state: string) =>
  waitFor(async () => ((await millrace.task(task)).state === state ? true : undefined))

export const namesOf = async (millrace: Millrace, task: string): Promise<string[]> =>
  (await millrace.history(task)).map((entry) => entry.name)

const FAULTS = {
  'tasks that did not succeed': `
    select id, state::text, error from millrace.done where state <> 'succeeded'`,
  'tasks without exactly one end in their history': `
    select task, count(*) from millrace.history where next in ('succeeded', 'failed', 'canceled', 'skipped')
    group by task having count(*) <> 1`,
  'tasks without exactly one effect': `
    select t.id, count(e.task) from millrace.task t join millrace.lane l on l.id = t.lane left join crash.effect e on e.task = t.id
    where l.kind like 'crash.%' and l.kind <> 'crash.plain' group by t.id having count(e.task) <> 1`,
  'effects of another lease than the one that is on record': `
    select e.*, d.epoch, d.holder from crash.effect e left join millrace.done d on d.id = e.task
    where (e.epoch, e.holder) is distinct from (d.epoch, d.holder)`,
  'tasks whose followers are missing or doubled': `
    select t.id from millrace.task t join millrace.lane l on l.id = t.lane
    where l.kind = 'crash.graph' and (select count(*) from millrace.task f where f.creator = t.id)
      <> (t.payload->>'followers')::int + (t.payload->>'isLater')::bool::int`,
  'tasks that began before a requirement was met': `
    select e.dependent from millrace.edge e join millrace.done d on d.id = e.dependent join millrace.done p on p.id = e.prerequisite
    where d.started_at < p.finished_at`,
  'broken promises': 'select * from millrace.verify()',
  'effects left behind': 'select * from millrace.effect',
  'unfinished tasks': 'select id, state::text from millrace.live',
}

/** Rows that must not be, by what they show. */
export async function findFaults(pool: Pool): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const [what, sql] of Object.entries(FAULTS)) found[what] = (await pool.query(sql)).rows
  return found
}

/** Everything succeeded exactly once, under the lease that is on record, and nothing is left. */
export async function expectExactlyOnce(pool: Pool): Promise<void> {
  const found = Object.entries(await findFaults(pool)).map(([what, rows]) => [what, rows.slice(0, 5)])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(Object.keys(FAULTS).map((what) => [what, []])))
}

/** A graph in which each task requires up to two earlier ones of the same batch. */
export function randomGraph(size: number, random: () => number = Math.random) {
  return Array.from({ length: size }, (_, i) => ({
    worker: 'crash.graph',
    payload: {
      ms: random() < 0.5 ? 0 : Math.floor(random() * 60),
      failures: random() < 0.1 ? 1 : 0,
      isLater: random() < 0.1,
      followers: random() < 0.2 ? 2 : 0,
    },
    requires: [...new Set(random() < 0.5 || i === 0 ? [] : [pick(i, random), pick(i, random)])].map((item) => ({
      item,
    })),
  }))
}

const pick = (below: number, random: () => number) => Math.floor(random() * below)
