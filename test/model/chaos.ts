// Real concurrency: dispatchers that claim, finish, fail, ask for later and die with their leases, while others add
// graphs and act by hand, each in a loop of its own. Nothing is predicted but what must hold for any history.
import { expect } from 'vitest'
import { isRetryable, type Pool, transaction } from '../../src/db/index.ts'
import { add } from '../../src/engine/add.ts'
import { type Condition, MillraceError } from '../../src/engine/index.ts'
import type { OutcomeName, VerbName } from './commands.ts'
import { verbs } from './commands.ts'
import { Engine } from './engine.ts'
import { WRITES_WITHOUT_OUTCOME } from './records.ts'
import { checkTold } from './told.ts'

type Random = (below: number) => number

/** A small generator of its own, so that a printed seed repeats the choices, though not the timing. */
function randomOf(seed: number): Random {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
}

const CONDITIONS: readonly Condition[] = ['succeeded', 'succeeded', 'finished', 'failed']
const OUTCOMES: readonly OutcomeName[] = [
  'callback',
  'callback',
  'finish',
  'finish',
  'finish',
  'fail',
  'transient',
  'later',
  'handBack',
  'advisory',
]

/** What has not ended by then never will; the checks in the end say what it was. */
const MOST_ROUNDS = 3_000

export type ChaosOptions = {
  readonly seed: number
  readonly graphs: number
  readonly dispatchers: number
  /** Whether people act on tasks meanwhile. Without them every task ends exactly once. */
  readonly byHand: boolean
}

export async function chaos(databaseUrl: string, options: ChaosOptions): Promise<void> {
  const engine = await new Engine(databaseUrl, options.dispatchers + 4).prepare()
  const run = new Chaos(engine, options)
  try {
    await run.run()
  } finally {
    await engine.close()
  }
}

class Chaos {
  readonly #engine: Engine
  readonly #options: ChaosOptions
  readonly #ids: string[] = []
  #adding = 0

  constructor(engine: Engine, options: ChaosOptions) {
    this.#engine = engine
    this.#options = options
  }

  async run(): Promise<void> {
    const { seed, dispatchers, byHand } = this.#options
    this.#adding = 2
    await Promise.all([
      this.#addGraphs(randomOf(seed + 1)),
      this.#addGraphs(randomOf(seed + 2)),
      ...(byHand ? [this.#actByHand(randomOf(seed + 3))] : []),
      ...Array.from({ length: dispatchers }, (_, i) => this.#dispatch(randomOf(seed + 10 + i))),
    ])
    await this.#check()
  }

  async #addGraphs(random: Random): Promise<void> {
    const pool = this.#engine.pool
    for (let graph = 0; graph < this.#options.graphs; graph += 1) {
      const known = [...this.#ids]
      const count = 1 + random(8)
      const items = Array.from({ length: count }, (_, i) => {
        const among = Math.min(known.length, 12) + i
        const ref = () => {
          const pick = random(among)
          return pick < i ? { item: pick } : { task: known[known.length - 1 - (pick - i)] as string }
        }
        const requires = Array.from({ length: among === 0 ? 0 : random(4) }, () => ({
          ...ref(),
          when: CONDITIONS[random(CONDITIONS.length)] as Condition,
        }))
        if (random(6) === 0) return { milestone: true as const, requires }
        return {
          worker: random(2) === 0 ? 'first' : 'second',
          payload: {},
          requires,
          maxAttempts: 3,
          priority: random(3),
          ...(random(6) === 0 ? { locks: ['x'] } : {}),
          ...(random(6) === 0 ? { limit: { group: 'of 2', max: 2 } } : {}),
        }
      })
      const added = await transaction(pool, async (client) => {
        const first = await add(client, this.#engine.names, items.slice(0, 4))
        const rest = items.slice(4).map((item) => ({ ...item, requires: [{ task: first[0]?.id as string }] }))
        return [...first, ...(rest.length > 0 ? await add(client, this.#engine.names, rest) : [])]
      })
      this.#ids.push(...added.map((task) => task.id))
    }
    this.#adding -= 1
  }

  async #actByHand(random: Random): Promise<void> {
    while (this.#adding > 0) {
      const id = this.#ids[random(Math.max(1, this.#ids.length))]
      if (id === undefined) {
        await this.#engine.pool.query('select')
        continue
      }
      const name = verbs[random(verbs.length)] as VerbName
      await this.#tolerant(() => this.#engine.verb(name, id, random(5)))
    }
    // What people hold they let go in the end, or nothing behind it would end.
    await this.#engine.pool.query(
      `select millrace.release(array(select id from millrace.live where state = 'held'), null, null)`,
    )
  }

  async #dispatch(random: Random): Promise<void> {
    const slot = this.#engine.holders.length
    await this.#engine.enlist(slot)
    for (let round = 0; round < MOST_ROUNDS && (this.#adding > 0 || (await this.#isBusy())); round += 1) {
      const claimed = await this.#tolerant(() => this.#engine.claim(slot, 1 + random(5)))
      const isDying = random(25) === 0
      for (const [i, token] of (claimed ?? []).entries()) {
        if (isDying && i > 0) break
        const name = OUTCOMES[random(OUTCOMES.length)] as OutcomeName
        const requires =
          name === 'later' && this.#ids.length > 0
            ? [{ task: this.#ids[random(this.#ids.length)] as string, when: 'finished' as const }]
            : []
        const taken = await this.#tolerant(() => this.#engine.outcome(name, token, { requires }))
        if (taken !== true) await this.#tolerant(() => this.#engine.outcome('handBack', token))
      }
      if (isDying) await this.#tolerant(() => this.#engine.expire(slot))
    }
  }

  async #isBusy(): Promise<boolean> {
    const { rows } = await this.#engine.pool.query<{ busy: boolean }>(
      'select exists (select from millrace.live) as busy',
    )
    return rows[0]?.busy ?? false
  }

  /** Refusals are expected; what the server aborted runs again by itself, or the next round makes up for it. */
  async #tolerant<T>(body: () => Promise<T>): Promise<T | undefined> {
    try {
      return await body()
    } catch (error) {
      if (error instanceof MillraceError || isRetryable(error)) return undefined
      throw error
    }
  }

  async #check(): Promise<void> {
    const pool: Pool = this.#engine.pool
    const ask = async (text: string) => (await pool.query(text)).rows
    expect(await ask('select id, state, unmet from millrace.live'), 'tasks that never end').toEqual([])
    await pool.query('select millrace.pump()')
    expect(await ask('select task, problem from millrace.verify()'), 'what verify finds').toEqual([])
    expect(await ask(WROTE_WRONG), 'writes without their outcome').toEqual([])
    expect(await ask(ENDED_TWICE), 'performances that ended twice').toEqual([])
    expect(await ask(OVERLAPPED), 'performances of one task that overlap').toEqual([])
    await checkTold(pool)
    if (this.#options.byHand) return
    expect(await ask(TOO_EARLY), 'starts before a requirement was met').toEqual([])
    expect(await ask(ENDINGS_NOT_ONE), 'tasks that did not end exactly once').toEqual([])
  }
}

const WROTE_WRONG = `
  ${WRITES_WITHOUT_OUTCOME}
  union all
  select task, epoch, 'twice' from written group by task, epoch having count(*) > 1
`

const PERFORMANCES = `
  select id as task, epoch, started_at, finished_at as ended_at, state::text as outcome from millrace.done where prior is null
  union all select task, epoch, started_at, ended_at, outcome from millrace.attempt
`

const ENDED_TWICE = `select task, epoch from (${PERFORMANCES}) p group by task, epoch having count(*) > 1`

const OVERLAPPED = `
  with p as (${PERFORMANCES})
  select a.task, a.epoch, b.epoch as other from p a join p b on b.task = a.task and b.epoch > a.epoch
  where b.started_at < a.ended_at
`

/** Of edges that were there from the beginning: the last performance began after the prerequisite's end. */
const TOO_EARLY = `
  select e.dependent, e.prerequisite
  from millrace.edge e
    join millrace.done d on d.id = e.dependent and d.started_at is not null
    join millrace.done p on p.id = e.prerequisite
  where d.started_at < p.finished_at or not millrace.is_met(e.condition, p.state)
`

const ENDINGS_NOT_ONE = `
  select t.id, count(h.task) from millrace.task t
    left join millrace.history h on h.task = t.id and h.next in ('succeeded', 'failed', 'canceled', 'skipped')
  group by t.id having count(h.task) <> 1
`
