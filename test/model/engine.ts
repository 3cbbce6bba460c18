// The engine as the tests drive it: its own verbs and statements, on several connections in turn, in a database whose
// graph is emptied between cases.
import { createPool, type Pool, transaction } from '../../src/db/index.ts'
import {
  type ActOptions,
  cancel,
  hold,
  prioritize,
  release,
  rerun,
  retry,
  rewire,
  skip,
  succeed,
} from '../../src/engine/act.ts'
import { add } from '../../src/engine/add.ts'
import type { AddItem } from '../../src/engine/add-options.ts'
import { beginSuspect } from '../../src/engine/dispatchers.sql.ts'
import { AdvisoryError, PermanentError, TransientError } from '../../src/engine/index.ts'
import { Names } from '../../src/engine/names.ts'
import { recordCanceled, recordError, recordLater, recordSuccess, require } from '../../src/engine/record.ts'
import { Run } from '../../src/engine/run.ts'
import { type ClaimedTask, step } from '../../src/engine/step.ts'
import { laneIds, requeueTasks } from '../../src/engine/tasks.sql.ts'
import { type AnyWorker, later, type Requirement } from '../../src/engine/worker.ts'
import { type OutcomeName, priorityOf, type VerbName } from './commands.ts'

export type Token = { readonly id: string; readonly holder: number; readonly epoch: number }
export type Claimed = Token & { readonly deaths: number }

const plain = { cancel, hold, release, rerun, retry, skip, succeed }

/** What people do to a task. The pick chooses what is given with the verb, where something is. */
export type ByHand = { readonly name: VerbName; readonly id: string; readonly pick: number }

export function byHand(pool: Pool, { name, id, pick }: ByHand, options?: ActOptions): Promise<void> {
  return name === 'prioritize' ? prioritize(pool, id, priorityOf(pick), options) : plain[name](pool, id, options)
}

export const MAX_DEATHS = 2
const KINDS = ['first', 'second'] as const
const LONG_SECONDS = 100_000

const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
}

export class Engine {
  readonly #pools: Pool[]
  readonly #lookups: Pool
  readonly #names: Names
  #lanes: number[] = []
  #turn = 0
  /** Live dispatchers by slot. */
  readonly holders: number[] = []

  constructor(databaseUrl: string, connections = 3) {
    this.#pools = Array.from({ length: connections }, () => createPool({ databaseUrl, max: 1 }))
    this.#lookups = createPool({ databaseUrl, max: 1 })
    this.#names = new Names(this.#lookups)
    for (const kind of KINDS) this.#names.define(worker(kind))
  }

  async prepare(): Promise<this> {
    await this.pool.query(
      'create table if not exists written (task bigint not null, epoch int not null, holder int not null, tag text)',
    )
    const { ids } = await laneIds(this.pool, { queues: KINDS.map(() => 'default'), kinds: [...KINDS] })
    this.#lanes = [...ids]
    await this.reset()
    return this
  }

  /** The next connection in turn. */
  get pool(): Pool {
    this.#turn = (this.#turn + 1) % this.#pools.length
    return this.#pools[this.#turn] as Pool
  }

  get names(): Names {
    return this.#names
  }

  /** The first slot takes one kind, which is a path of its own in the claim; the others take both. */
  lanesOf(slot: number): number[] {
    return slot === 0 ? this.#lanes.slice(0, 1) : this.#lanes
  }

  async reset(): Promise<void> {
    const { rows } = await this.pool.query<{ id: number }>({
      name: 'reset',
      text: `
      with a as (delete from millrace.live), b as (delete from millrace.done), c as (delete from millrace.task),
        d as (delete from millrace.edge), e as (delete from millrace.supersede), f as (delete from millrace.effect),
        g as (delete from millrace.attempt), h as (delete from millrace.event), i as (delete from written),
        j as (delete from millrace.dispatcher), l as (delete from millrace.outbox), m as (delete from millrace.outbox_page),
        k as (update millrace.gate set used = 0 where used <> 0)
      insert into millrace.dispatcher (name, lease_seconds, expires_at)
      select 'slot ' || n, 1000, clock_timestamp() + interval '1 day' from generate_series(0, 2) n
      returning id
    `,
    })
    rows.forEach((row, slot) => {
      this.holders[slot] = row.id
    })
  }

  // In transactions of their own, because they may be refused: the server tells of an error before it gives up the locks,
  // and the next claim on another connection would pass over what is still locked.
  add(items: readonly AddItem[]): Promise<string[]> {
    return transaction(this.pool, async (tx) => (await add(tx, this.#names, items)).map((task) => task.id))
  }

  require(task: string, requires: readonly Requirement[]): Promise<void> {
    return transaction(this.pool, (tx) => require(tx, task, requires))
  }

  rewire(task: string, requires: readonly Requirement[]): Promise<void> {
    return rewire(this.pool, task, requires)
  }

  async claim(slot: number, limit: number): Promise<Claimed[]> {
    const holder = this.holders[slot] as number
    const { tasks } = await this.step(slot, { limit })
    return this.#begun(tasks, holder)
  }

  /** Finishes and claims in one step. */
  async hop(token: Token, slot: number, limit: number): Promise<{ isTaken: boolean; claimed: Claimed[] }> {
    const { accepted, tasks } = await this.step(slot, { token, limit })
    return { isTaken: accepted.includes(token.id), claimed: await this.#begun(tasks, token.holder) }
  }

  async #begun(tasks: readonly ClaimedTask[], holder: number): Promise<Claimed[]> {
    const claimed = tasks.map(({ id, epoch, deaths }) => ({ id, holder, epoch, deaths }))
    for (const { id, epoch, deaths } of claimed) if (deaths > 0) await beginSuspect(this.pool, { holder, id, epoch })
    return claimed
  }

  step(slot: number, options: { limit?: number; token?: Token; isUnchanged?: boolean } = {}) {
    const lanes = this.lanesOf(slot)
    const { token } = options
    return step(this.pool, {
      holder: token?.holder ?? (this.holders[slot] as number),
      ids: token === undefined ? [] : [token.id],
      epochs: token === undefined ? [] : [token.epoch],
      outputs: null,
      unchanged: token !== undefined && options.isUnchanged ? [token.id] : [],
      lanes,
      from_priority: lanes.map(() => -(2 ** 31)),
      from_order: lanes.map(() => '0'),
      limit: options.limit ?? 0,
      idle: null,
    })
  }

  /** Records an outcome as the dispatcher does. Answers whether it was taken. */
  async outcome(
    name: OutcomeName,
    token: Token,
    how: { isDelayed?: boolean; requires?: Requirement[]; pool?: Pool } = {},
  ): Promise<boolean> {
    const pool = how.pool ?? this.pool
    const at = { pool, names: this.#names }
    const run = new Run(writingWorker(token, name), { ...ROW, id: token.id, epoch: token.epoch }, token.holder)
    const retryAfterSeconds = how.isDelayed ? LONG_SECONDS : 0
    switch (name) {
      case 'finish':
      case 'hop':
      case 'unchanged': {
        const { accepted } = await this.step(0, { token, isUnchanged: name === 'unchanged' })
        return accepted.includes(token.id)
      }
      case 'callback':
        return ran(() => recordSuccess(at, run, undefined, false))
      case 'fail':
        return ran(() => recordError(at, run, new PermanentError('fails')))
      case 'advisory':
        return ran(() => recordError(at, run, new AdvisoryError('advises')))
      case 'transient':
        return ran(() => recordError(at, run, new TransientError('fails for now', { retryAfterSeconds })))
      case 'later':
        return ran(() => recordLater(at, run, later({ requires: how.requires ?? [], delaySeconds: retryAfterSeconds })))
      case 'handBack':
        return (
          (await requeueTasks(pool, { ...asArrays(token), outcome: 'handed_back', delays: null, errors: null }))
            .length > 0
        )
      case 'stop':
        return ran(() => recordCanceled(at, run))
    }
  }

  verb(name: VerbName, id: string, pick: number): Promise<void> {
    return byHand(this.pool, { name, id, pick })
  }

  async expire(slot: number): Promise<void> {
    const pool = this.pool
    const { rows } = await pool.query<{ id: number }>({
      text: `with past as (update millrace.dispatcher set expires_at = clock_timestamp() - interval '1 s' where id = $1)
        insert into millrace.dispatcher (name, lease_seconds, expires_at)
        values ('slot ' || $2, 1000, clock_timestamp() + interval '1 day') returning id`,
      values: [this.holders[slot], slot],
    })
    await pool.query('select millrace.expire($1)', [MAX_DEATHS])
    this.holders[slot] = rows[0]?.id as number
  }

  /** Fills a slot with a live dispatcher. */
  async enlist(slot: number): Promise<void> {
    this.holders[slot] = 0
    const { rows } = await this.pool.query<{ id: number }>(
      `insert into millrace.dispatcher (name, lease_seconds, expires_at)
      values ('slot', 1000, clock_timestamp() + interval '1 day') returning id`,
    )
    this.holders[slot] = rows[0]?.id as number
  }

  async passTime(): Promise<void> {
    await this.pool.query(
      `update millrace.live set not_before = clock_timestamp() - interval '1 s' where not_before is not null`,
    )
    await this.step(0)
  }

  async close(): Promise<void> {
    for (const pool of [...this.#pools, this.#lookups]) await pool.end()
  }
}

const ROW = { failures: 0, deaths: 0, scope: 'default', key: null, creator: null, payload: {} }

const asArrays = (token: Token) => ({ holder: token.holder, ids: [token.id], epochs: [token.epoch] })

export const worker = (kind: string): AnyWorker => ({ kind, payload: anything, maxAttempts: 3, work: () => undefined })

/** Every callback leaves a row behind, which must be there exactly when the outcome is. */
function writingWorker(token: Token, tag: string): AnyWorker {
  const write = async (tx: { query(text: string, values: unknown[]): Promise<unknown> }) => {
    await tx.query('insert into written (task, epoch, holder, tag) values ($1, $2, $3, $4)', [
      token.id,
      token.epoch,
      token.holder,
      tag,
    ])
  }
  return { ...worker(KINDS[0]), onSuccess: write, onFailure: write, onReschedule: write }
}

/** Whether the transaction committed; a lost lease and a cancel on its way refuse it. */
async function ran(body: () => Promise<void>): Promise<boolean> {
  try {
    await body()
    return true
  } catch (error) {
    const name = (error as Error).constructor.name
    if (name === 'LeaseLost' || name === 'CanceledMeanwhile') return false
    throw error
  }
}
