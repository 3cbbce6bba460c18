// Commands as in the model test, but in transactions that overlap: each runs on a session of its own, stays open while
// others run, may wait for a lock, and commits or rolls back in any order. What must hold in the end is checked; the
// outcome itself depends on who came first.
import fc from 'fast-check'
import { expect } from 'vitest'
import { rewire } from '../../src/engine/act.ts'
import { add as addTasks } from '../../src/engine/add.ts'
import { MillraceError } from '../../src/engine/index.ts'
import { sequence } from '../../src/engine/outbox.ts'
import { require } from '../../src/engine/record.ts'
import { step } from '../../src/engine/step.ts'
import { failTasks, finishTask, holdLease, lockToFinish, requeueTasks } from '../../src/engine/tasks.sql.ts'
import { add, type Command, command, HOP, type Required } from './commands.ts'
import { byHand, Engine, MAX_DEATHS, type Token } from './engine.ts'
import { checkRecords } from './records.ts'
import { scenes } from './scenes.ts'
import { type Session, sessions } from './session.ts'
import { checkTold } from './told.ts'

export type Move =
  | { readonly session: number; readonly command: Command }
  | { readonly session: number; readonly end: 'commit' | 'rollback' }

const session = fc.nat({ max: 5 })
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ session, command }), weight: 5 },
    {
      arbitrary: fc.record({ session, end: fc.constantFrom('commit' as const, 'commit', 'commit', 'rollback') }),
      weight: 3,
    },
  ),
  { maxLength: 40, size: 'max' },
)

type Add = Extract<Command, { type: 'add' }>
type Client = Session['client']
type Pool = Parameters<typeof byHand>[0]

class Interleaving {
  readonly #engine: Engine
  readonly #sessions: readonly Session[]
  readonly #monitor: Client
  /** Of committed transactions. */
  readonly #ids: string[] = []
  readonly #leases: Token[] = []
  readonly #claims = new Set<string>()
  /** What each open transaction has added and claimed. */
  readonly #own: { ids: string[]; leases: Token[] }[] = []

  constructor(engine: Engine, sessions: readonly Session[], monitor: Client) {
    this.#engine = engine
    this.#sessions = sessions
    this.#monitor = monitor
    sessions.forEach(() => {
      this.#own.push({ ids: [], leases: [] })
    })
  }

  /** `first` is added and committed before the transactions begin. */
  async run(first: Add, list: readonly Move[]): Promise<void> {
    await this.#engine.reset()
    this.#ids.push(...(await this.#add(this.#monitor, first, [])))
    for (const move of list) {
      const at = this.#sessions[move.session] as Session
      if (at.isBusy) await at.settled(this.#monitor)
      if (at.isBusy) continue
      if ('end' in move) await this.#end(move.session, move.end)
      else await this.#begin(move.session, move.command)
      // While transactions are open and others have committed: what commits late must not be missed.
      await sequence(this.#monitor as never)
    }
    await this.#endAll()
    await this.#drain()
  }

  async #begin(number: number, wanted: Command): Promise<void> {
    const at = this.#sessions[number] as Session
    if (!at.isOpen) await at.begin()
    const known = [...this.#ids, ...(this.#own[number]?.ids ?? [])]
    void at
      .start((client) => this.#apply(client, wanted, number, known))
      .then((outcome) => {
        if ('error' in outcome && !isExpected(outcome.error)) throw outcome.error
      })
      .catch((error: Error) => {
        this.#fault ??= error
      })
    await at.settled(this.#monitor)
  }

  #fault: Error | undefined

  async #end(number: number, how: 'commit' | 'rollback'): Promise<void> {
    const at = this.#sessions[number] as Session
    if (!at.isOpen) return
    const own = this.#own[number] as { ids: string[]; leases: Token[] }
    if (await at.end(how)) {
      await this.#verify('after a commit')
      this.#ids.push(...own.ids)
      for (const lease of own.leases) {
        const name = `${lease.id} at epoch ${lease.epoch}`
        expect(this.#claims.has(name), `task ${name} is claimed once`).toBe(false)
        this.#claims.add(name)
        this.#leases.push(lease)
      }
    }
    this.#own[number] = { ids: [], leases: [] }
  }

  async #endAll(): Promise<void> {
    for (let round = 0; this.#sessions.some((at) => at.isOpen); round += 1) {
      expect(round, 'rounds until every transaction has ended').toBeLessThan(100)
      for (const [number, at] of this.#sessions.entries()) {
        if (at.isBusy) await at.settled(this.#monitor)
        if (at.isOpen && !at.isBusy) await this.#end(number, 'commit')
      }
    }
    if (this.#fault !== undefined) throw this.#fault
  }

  async #apply(client: Client, wanted: Command, number: number, known: readonly string[]): Promise<void> {
    const pool = client as unknown as Pool
    const options = { client }
    const own = this.#own[number] as { ids: string[]; leases: Token[] }
    switch (wanted.type) {
      case 'add':
        own.ids.push(...(await this.#add(client, wanted, known)))
        return
      case 'require':
        return this.#inSavepoint(client, () =>
          require(pool, at(known, wanted.pick), this.#refs(wanted.requires, known)),
        )
      case 'rewire':
        return this.#inSavepoint(client, () =>
          rewire(pool, at(known, wanted.pick), this.#refs(wanted.requires, known), options),
        )
      case 'claim':
        own.leases.push(...(await this.#claim(client, wanted.dispatcher, wanted.limit)))
        return
      case 'outcome':
        own.leases.push(...(await this.#outcome(client, wanted, known)))
        return
      case 'verb':
        return this.#inSavepoint(client, () =>
          byHand(pool, { name: wanted.name, id: at(known, wanted.pick), pick: wanted.pick }, options),
        )
      case 'expire':
        await client.query(
          `update millrace.dispatcher set expires_at = clock_timestamp() - interval '1 s' where id = $1`,
          [this.#engine.holders[wanted.dispatcher]],
        )
        await client.query('select millrace.expire($1)', [MAX_DEATHS])
        return
      case 'passTime':
        await client.query(
          `update millrace.live set not_before = clock_timestamp() - interval '1 s'
          where id in (select id from millrace.live where state = 'delayed' order by id for update skip locked)`,
        )
        await client.query('select millrace.move_due(), millrace.pump()')
    }
  }

  async #add(client: Client, wanted: Add, known: readonly string[]): Promise<string[]> {
    const items = wanted.items.map((item, i) => {
      const among = known.length + i
      const ref = (pick: number) =>
        pick % among < known.length ? (known[pick % among] as string) : { item: (pick % among) - known.length }
      const withWhen = ({ pick, when }: Required) => {
        const of = ref(pick)
        return typeof of === 'string' ? { task: of, when } : { ...of, when }
      }
      return {
        ...(item.isMilestone
          ? { milestone: true as const }
          : { worker: item.kind === 0 ? 'first' : 'second', payload: {} }),
        priority: item.priority,
        maxAttempts: item.maxAttempts,
        requires: among === 0 ? [] : item.requires.map(withWhen),
        cancels: among === 0 ? [] : item.cancels.map(ref),
        locks: item.isMilestone ? [] : item.locks,
        ...(item.limit > 0 && !item.isMilestone ? { limit: { group: `of ${item.limit}`, max: item.limit } } : {}),
        ...(item.isHeld ? { heldBy: 'test' } : {}),
        ...(item.isEarly ? { delaySeconds: 100_000 } : {}),
      }
    })
    return (await addTasks(client, this.#engine.names, items)).map((task) => task.id)
  }

  async #claim(client: Client, slot: number, limit: number, finished?: Token): Promise<Token[]> {
    const holder = finished?.holder ?? (this.#engine.holders[slot] as number)
    const lanes = this.#engine.lanesOf(slot)
    const { tasks } = await step(client, {
      holder,
      ids: finished === undefined ? [] : [finished.id],
      epochs: finished === undefined ? [] : [finished.epoch],
      outputs: null,
      unchanged: [],
      lanes,
      from_priority: lanes.map(() => -(2 ** 31)),
      from_order: lanes.map(() => '0'),
      limit,
      idle: null,
    })
    return tasks.map(({ id, epoch }) => ({ id, holder, epoch }))
  }

  async #outcome(
    client: Client,
    wanted: Extract<Command, { type: 'outcome' }>,
    known: readonly string[],
  ): Promise<Token[]> {
    const token = this.#leases[wanted.pick % Math.max(1, this.#leases.length)]
    if (token === undefined) return []
    if (wanted.name === 'finish' || wanted.name === 'unchanged' || wanted.name === 'hop') {
      return this.#claim(client, wanted.pick % 2, wanted.name === 'hop' ? HOP : 0, token)
    }
    const lease = await holdLease(client, token)
    if (lease === undefined) return []
    const one = { holder: token.holder, ids: [token.id], epochs: [token.epoch] }
    if (wanted.name === 'handBack') {
      await requeueTasks(client, { ...one, outcome: 'handed_back', delays: null, errors: null })
      return []
    }
    if (lease.is_canceling || wanted.name === 'stop') {
      if (!lease.is_canceling) return []
      await lockToFinish(client, { id: token.id })
      await failTasks(client, { ...one, state: 'canceled', errors: [null] })
      return []
    }
    await client.query('insert into written (task, epoch, holder, tag) values ($1, $2, $3, $4)', [
      token.id,
      token.epoch,
      token.holder,
      wanted.name,
    ])
    if (wanted.name === 'later') {
      await this.#inSavepoint(client, () =>
        require(client as never, token.id, this.#refs(wanted.requires, known), token),
      )
    }
    await lockToFinish(client, { id: token.id })
    let taken: readonly unknown[]
    if (wanted.name === 'callback')
      taken = (await finishTask(client, { ...one, outputs: null, unchanged: [] })).accepted
    else if (wanted.name === 'fail')
      taken = (await failTasks(client, { ...one, state: 'failed', errors: [null] })).accepted
    else if (wanted.name === 'advisory')
      taken = (await failTasks(client, { ...one, state: 'succeeded', errors: [null] })).accepted
    else {
      const outcome = wanted.name === 'later' ? 'later' : 'retry'
      taken = await requeueTasks(client, { ...one, outcome, delays: [wanted.isDelayed ? 100_000 : 0], errors: [null] })
    }
    if (taken.length !== 1) throw new Error(`${wanted.name} of ${token.id} was not taken under its lease`)
    return []
  }

  #refs(requires: readonly Required[], known: readonly string[]) {
    return requires.map(({ pick, when }) => ({ task: at(known, pick), when }))
  }

  /** A refusal undoes the verb and not the transaction. */
  async #inSavepoint(client: Client, body: () => Promise<void>): Promise<void> {
    await client.query('savepoint verb')
    try {
      await body()
      await client.query('release savepoint verb')
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error
      await client.query('rollback to savepoint verb')
    }
  }

  /** Performs whatever can be performed until nothing is left; every task must come to an end. */
  async #drain(): Promise<void> {
    const client = this.#monitor
    await this.#settle('when every transaction has ended')
    for (let round = 0; round < 200; round += 1) {
      const { rows: running } = await client.query<Token & { stop: boolean }>(
        `select id::text, holder, epoch, cancel_cause is not null as stop from millrace.live where state = 'running'`,
      )
      for (const { stop, ...token } of running) {
        if (stop)
          await failTasks(client, {
            holder: token.holder,
            ids: [token.id],
            epochs: [token.epoch],
            state: 'canceled',
            errors: [null],
          })
        else await this.#claim(client, 2, 0, token)
      }
      await client.query(
        `update millrace.live set not_before = clock_timestamp() - interval '1 s' where not_before is not null`,
      )
      const { rows } = await client.query<{ id: number }>(
        `insert into millrace.dispatcher (name, lease_seconds, expires_at) values ('drain', 1000, clock_timestamp() + interval '1 day') returning id`,
      )
      this.#engine.holders[2] = rows[0]?.id as number
      await client.query(
        `select millrace.release(array(select id from millrace.live where state = 'held'), null, null)`,
      )
      const claimed = await this.#claim(client, 2, 100)
      for (const token of claimed) {
        const name = `${token.id} at epoch ${token.epoch}`
        expect(this.#claims.has(name), `task ${name} is claimed once`).toBe(false)
        this.#claims.add(name)
      }
      // What a step could not apply at once it leaves to the next one, with nothing to claim yet.
      if (claimed.length === 0 && running.length === 0 && !(await this.#canGoOn())) break
    }
    await this.#settle('when everything has been performed')
    const { rows: left } = await client.query('select * from millrace.live')
    expect(left, `tasks that never end: ${JSON.stringify(left)}`).toEqual([])
    await checkRecords(client, this.#claims)
    await checkTold(client)
  }

  async #canGoOn(): Promise<boolean> {
    const { rows } = await this.#monitor.query<{ more: boolean }>(`
      select exists (select from millrace.effect)
        or exists (select from millrace.live where state in ('ready', 'running', 'delayed', 'held')) as more
    `)
    return rows[0]?.more === true
  }

  async #settle(when: string): Promise<void> {
    let effects: unknown[] = []
    for (let round = 0; round < 20; round += 1) {
      await this.#monitor.query('select millrace.move_due(), millrace.pump()')
      effects = (await this.#monitor.query('select kind, ref from millrace.effect')).rows
      if (effects.length === 0) break
    }
    expect(effects, `effects left ${when}`).toEqual([])
    await this.#verify(when)
  }

  async #verify(when: string): Promise<void> {
    const { rows } = await this.#monitor.query('select task, problem from millrace.verify()')
    expect(rows, `what verify finds ${when}`).toEqual([])
  }
}

/** Runs cases of overlapping transactions on a database of the caller's. */
export async function interleave(databaseUrl: string, parameters: fc.Parameters<[Add, Move[]]>): Promise<void> {
  const engine = await new Engine(databaseUrl, 1).prepare()
  const all = await sessions(databaseUrl, 7)
  const [monitor, ...others] = all as [Session, ...Session[]]
  const property = fc.asyncProperty(add, moves, async (first, list) => {
    try {
      await new Interleaving(engine, others, monitor.client).run(first, list)
    } finally {
      for (const session of others) await session.abandon(monitor.client)
    }
  })
  try {
    await fc.assert(property, { examples: scenes, ...parameters })
  } finally {
    for (const session of all) await session.close()
    await engine.close()
  }
}

const at = (known: readonly string[], pick: number) => known[pick % known.length] as string

/** Refusals, deadlocks and what follows a failure in its transaction are part of the game. */
function isExpected(error: Error & { code?: string }): boolean {
  return error instanceof MillraceError || ['40P01', '40001', '25P02'].includes(error.code ?? '')
}
