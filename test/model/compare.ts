// Runs commands on the engine and on the model, and compares the two after each.
import fc from 'fast-check'
import { expect } from 'vitest'
import { MillraceError } from '../../src/engine/index.ts'
import { type Command, commands, HOP, type Item, priorityOf, type Required, stories } from './commands.ts'
import { type Claimed, Engine, MAX_DEATHS, type Token } from './engine.ts'
import { Model } from './model.ts'
import { type Lease, Refused } from './model-task.ts'
import { checkTold } from './told.ts'

type Row = {
  id: string
  state: string
  unmet: number
  culprit: string | null
  holder: number | null
  epoch: number
  failures: number
  deaths: number
  is_canceling: boolean
  is_claimable: boolean
  lane: number | null
  priority: number
  ready_order: string | null
}

type Hopped = { readonly claimed: ReadonlySet<string>; readonly lanes: readonly number[]; readonly token: Token }

const LOOK = `
  select
    (select jsonb_agg(to_jsonb(s) order by s.number) from (
      select t.id as number, t.id::text as id, coalesce(l.state, d.state) as state, coalesce(l.unmet, 0) as unmet,
        coalesce(d.culprit, l.cancel_by)::text as culprit, l.holder, coalesce(l.epoch, d.epoch) as epoch,
        coalesce(l.failures, d.failures) as failures, coalesce(l.deaths, d.deaths) as deaths,
        l.cancel_cause is not null as is_canceling,
        coalesce(l.state = 'ready' and l.gate is null and l.lane is not null, false) as is_claimable,
        t.lane, t.priority, l.ready_order::text
      from millrace.task t left join millrace.live l on l.id = t.id left join millrace.done d on d.id = t.id
    ) s) as tasks,
    (select jsonb_agg(to_jsonb(v)) from millrace.verify() v) as problems,
    (select count(*)::int from millrace.effect) as effects,
    (select jsonb_agg(to_jsonb(w)) from (select task::text as id, epoch, holder, tag from written order by task, epoch) w) as written
`

const ENDINGS = `
  select task::text as id, array_agg(next::text order by at, rank) as endings
  from millrace.history
  where next in ('succeeded', 'failed', 'canceled', 'skipped')
  group by task
`

class Comparison {
  readonly #engine: Engine
  readonly #model = new Model()
  readonly #ids: string[] = []
  readonly #leases: { lease: Lease; token: Token }[] = []
  readonly #written: (Token & { tag: string })[] = []
  #last: Row[] = []
  #hopped: Hopped | undefined

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async run(commands: readonly Command[]): Promise<void> {
    await this.#engine.reset()
    for (const command of commands) {
      await this.#apply(command)
      await this.#compare()
    }
    const { rows } = await this.#engine.pool.query<{ id: string; endings: string[] }>(ENDINGS)
    const endings = Object.fromEntries(rows.map((row) => [row.id, row.endings]))
    const expected = this.#model.tasks.flatMap((task, i) =>
      task.endings.length > 0 ? [[this.#ids[i], task.endings]] : [],
    )
    expect(endings, 'endings in the history').toEqual(Object.fromEntries(expected))
    await checkTold(this.#engine.pool)
  }

  #apply(command: Command): Promise<void> {
    switch (command.type) {
      case 'add':
        return this.#add(command.items)
      case 'require':
      case 'rewire':
        return this.#require(command.type, command.pick, command.requires)
      case 'claim':
        return this.#claim(command.dispatcher, command.limit)
      case 'outcome':
        return this.#outcome(command)
      case 'verb':
        return this.#verb(command)
      case 'expire':
        return this.#expire(command.dispatcher)
      case 'passTime':
        return this.#passTime()
    }
  }

  async #add(items: readonly Item[]): Promise<void> {
    const first = this.#ids.length
    const chosen = items.map((item, i) => {
      const among = first + i
      return {
        ...item,
        requires: among === 0 ? [] : item.requires.map(({ pick, when }) => ({ task: pick % among, when })),
        cancels: among === 0 ? [] : [...new Set(item.cancels.map((pick) => pick % among))],
        locks: item.isMilestone ? [] : item.locks,
        limit: item.isMilestone ? 0 : item.limit,
      }
    })
    const ref = (task: number) => (task < first ? { task: this.#ids[task] as string } : { item: task - first })
    const ids = await this.#engine.add(
      chosen.map((item) => ({
        ...(item.isMilestone
          ? { milestone: true as const }
          : { worker: item.kind === 0 ? 'first' : 'second', payload: {} }),
        priority: item.priority,
        maxAttempts: item.maxAttempts,
        requires: item.requires.map(({ task, when }) => ({ ...ref(task), when })),
        cancels: item.cancels.map((task) => (task < first ? (this.#ids[task] as string) : { item: task - first })),
        locks: item.locks,
        ...(item.limit > 0 ? { limit: { group: `of ${item.limit}`, max: item.limit } } : {}),
        ...(item.isHeld ? { heldBy: 'test' } : {}),
        ...(item.isEarly ? { delaySeconds: 100_000 } : {}),
      })),
    )
    this.#ids.push(...ids)
    this.#model.add(chosen)
  }

  async #require(verb: 'require' | 'rewire', pick: number, requires: readonly Required[]): Promise<void> {
    const task = pick % this.#ids.length
    const chosen = this.#choose(requires)
    const refusal = this.#expected(() => this.#model[verb](task, chosen))
    const error = await this.#answered(() => this.#engine[verb](this.#ids[task] as string, this.#refs(chosen)))
    expect(error?.code ?? null, `refusal of a requirement for task ${task}`).toBe(refusal)
    if (error?.code === 'cycle') this.#checkPath((error as unknown as { path: string[] }).path, task, chosen)
  }

  #checkPath(path: readonly string[], task: number, chosen: readonly { task: number }[]): void {
    // Each task of the path is required by the next.
    const numbers = path.map((id) => this.#ids.indexOf(id)).reverse()
    expect([numbers[0], numbers[numbers.length - 1]], 'the ends of the cycle').toEqual([task, task])
    for (let i = 0; i + 1 < numbers.length; i += 1) {
      const [from, to] = [numbers[i] as number, numbers[i + 1] as number]
      const isAsked = i === 0 && chosen.some((required) => required.task === to)
      expect(isAsked || this.#model.hasEdge(from, to), `task ${from} requires ${to} in path ${numbers.join(' ')}`).toBe(
        true,
      )
    }
  }

  async #claim(slot: number, limit: number): Promise<void> {
    const lanes = this.#engine.lanesOf(slot)
    const inLine = this.#last
      .filter((row) => row.is_claimable && lanes.includes(row.lane as number))
      .sort((a, b) => a.priority - b.priority || Number(BigInt(a.ready_order ?? 0) - BigInt(b.ready_order ?? 0)))
    const claimed = await this.#engine.claim(slot, limit)
    expect(
      claimed.map((token) => token.id),
      'the most urgent are claimed',
    ).toEqual(inLine.slice(0, limit).map((row) => row.id))
    this.#claimed(claimed)
  }

  #claimed(claimed: readonly Claimed[]): void {
    for (const token of claimed) {
      const lease = this.#model.claim(this.#ids.indexOf(token.id), token.holder)
      expect(token.epoch, 'epoch of the claim').toBe(lease.epoch)
      if (token.deaths > 0) this.#model.begin(lease)
      const { id, holder, epoch } = token
      this.#leases.push({ lease, token: { id, holder, epoch } })
    }
  }

  async #outcome(command: Extract<Command, { type: 'outcome' }>): Promise<void> {
    const { name, isDelayed } = command
    const standing = this.#leases.filter(({ lease }) => this.#model.holds(lease))
    const all = command.isAny ? this.#staleFirst() : standing
    const held = name === 'stop' ? all.filter(({ lease }) => this.#model.task(lease.task).isCanceling) : all
    if (held.length === 0) return
    const { lease, token } = held[command.pick % held.length] as (typeof held)[number]
    const requires = name === 'later' ? this.#choose(command.requires) : []
    const refusal = this.#expected(() => {
      if (PLAIN.includes(name)) this.#model.finish(lease)
      else if (name === 'unchanged') this.#model.finish(lease, true)
      else if (name === 'fail') this.#model.fail(lease)
      else if (name === 'transient') this.#model.transient(lease, isDelayed)
      else if (name === 'later') this.#model.later(lease, requires, isDelayed)
      else this.#model.handBack(lease)
    })
    let isTaken = false
    const error = await this.#answered(async () => {
      isTaken =
        name === 'hop'
          ? await this.#hop(token, command.pick % 2)
          : await this.#engine.outcome(name, token, { isDelayed, requires: this.#refs(requires) })
    })
    if (name === 'stop') expect(error).toBeNull()
    else expect([isTaken, error?.code ?? null], `${name} of ${JSON.stringify(token)}`).toEqual(asAnswer(refusal))
    if (isTaken && WRITES.includes(name)) this.#written.push({ ...token, tag: name })
  }

  async #hop(token: Token, slot: number): Promise<boolean> {
    const { isTaken, claimed } = await this.#engine.hop(token, slot, HOP)
    this.#claimed(claimed)
    this.#hopped = { claimed: new Set(claimed.map(({ id }) => id)), lanes: this.#engine.lanesOf(slot), token }
    return isTaken
  }

  /** What a hop has left is less urgent than what it took, and it left something only when it took all it may. */
  #checkHop({ claimed, lanes, token }: Hopped): void {
    if (!this.#engine.holders.includes(token.holder)) return
    const order = (a: Row, b: Row) =>
      a.priority - b.priority || Number(BigInt(a.ready_order ?? 0) - BigInt(b.ready_order ?? 0))
    const taken = this.#last.filter((row) => claimed.has(row.id))
    const left = this.#last.filter((row) => row.is_claimable && lanes.includes(row.lane as number))
    expect(
      taken.every((row) => lanes.includes(row.lane as number)),
      'all are of its lanes',
    ).toBe(true)
    if (left.length > 0) expect(taken.length, 'claimed by a hop, with more to claim').toBe(HOP)
    for (const row of left)
      expect(
        taken.every((other) => order(other, row) < 0),
        'the most urgent are claimed',
      ).toBe(true)
  }

  /** A stale token is best tried while its task runs again, best of all with the dispatcher that had it before. */
  #staleFirst(): { lease: Lease; token: Token }[] {
    const stale = this.#leases.filter(
      ({ lease }) => !this.#model.holds(lease) && this.#model.task(lease.task).state === 'running',
    )
    const own = stale.filter(({ lease }) => this.#model.task(lease.task).holder === lease.holder)
    return own.length > 0 ? own : stale.length > 0 ? stale : this.#leases
  }

  async #verb(command: Extract<Command, { type: 'verb' }>): Promise<void> {
    const { name } = command
    const fitting = this.#model.inState(...FITTING[name])
    const among = command.isAny || fitting.length === 0 ? this.#ids.map((_, i) => i) : fitting
    const task = among[command.pick % among.length] as number
    const refusal = this.#expected(() => this.#model[name](task, priorityOf(command.pick)))
    const error = await this.#answered(() => this.#engine.verb(name, this.#ids[task] as string, command.pick))
    expect(error?.code ?? null, `refusal to ${name} task ${task}`).toBe(refusal)
  }

  async #expire(slot: number): Promise<void> {
    this.#model.expire(this.#engine.holders[slot] as number, MAX_DEATHS)
    await this.#engine.expire(slot)
  }

  async #passTime(): Promise<void> {
    this.#model.passTime()
    await this.#engine.passTime()
  }

  #choose(requires: readonly Required[]): { task: number; when: Required['when'] }[] {
    return requires.map(({ pick, when }) => ({ task: pick % this.#ids.length, when }))
  }

  #refs(requires: readonly { task: number; when: Required['when'] }[]) {
    return requires.map(({ task, when }) => ({ task: this.#ids[task] as string, when }))
  }

  /** The code of the model's refusal, or null. */
  #expected(body: () => void): string | null {
    try {
      body()
      return null
    } catch (error) {
      if (error instanceof Refused) return error.message
      throw error
    }
  }

  async #answered(body: () => Promise<void>): Promise<(MillraceError & { code: string }) | null> {
    try {
      await body()
      return null
    } catch (error) {
      if (error instanceof MillraceError) return error
      throw error
    }
  }

  async #compare(): Promise<void> {
    const { rows } = await this.#engine.pool.query<{
      tasks: Row[] | null
      problems: unknown[] | null
      effects: number
      written: unknown[] | null
    }>({ name: 'look', text: LOOK })
    const { tasks, problems, effects, written } = rows[0] as (typeof rows)[number]
    this.#last = tasks ?? []
    const found = this.#last.map((row) => [
      row.state,
      row.unmet,
      row.culprit === null ? null : this.#ids.indexOf(row.culprit),
      row.holder,
      row.epoch,
      row.failures,
      row.deaths,
      row.is_canceling,
      row.priority,
    ])
    const expected = this.#model.tasks.map((task, i) => [
      task.state,
      this.#model.isLive(i) ? this.#model.unmet(i) : 0,
      task.isCanceling ? task.cancelBy : task.culprit,
      task.holder,
      task.epoch,
      task.failures,
      task.deaths,
      task.isCanceling,
      task.priority,
    ])
    expect(found, 'state, unmet, culprit, holder, epoch, failures, deaths, canceling, priority of each task').toEqual(
      expected,
    )
    expect(problems, 'what verify finds').toBeNull()
    expect(effects, 'effects left').toBe(0)
    if (this.#hopped !== undefined) this.#checkHop(this.#hopped)
    this.#hopped = undefined
    const order = (a: Token, b: Token) => Number(BigInt(a.id) - BigInt(b.id)) || a.epoch - b.epoch
    expect(written ?? [], 'what callbacks wrote').toEqual([...this.#written].sort(order))
  }
}

/** Runs cases of single commands on a database of the caller's. */
export async function compare(databaseUrl: string, parameters: fc.Parameters<[Command[]]>): Promise<void> {
  const engine = await new Engine(databaseUrl).prepare()
  try {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => new Comparison(engine).run(list)),
      { examples: stories, ...parameters },
    )
  } finally {
    await engine.close()
  }
}

/** Successes of the ordinary kind. */
const PLAIN: readonly string[] = ['finish', 'hop', 'callback', 'advisory']
const WRITES: readonly string[] = ['callback', 'fail', 'advisory', 'transient', 'later']

const FITTING = {
  cancel: ['waiting', 'delayed', 'ready', 'running', 'held'],
  hold: ['waiting', 'delayed', 'ready'],
  release: ['held'],
  skip: ['waiting', 'delayed', 'ready', 'held'],
  retry: ['failed', 'canceled', 'skipped'],
  rerun: ['succeeded'],
  succeed: ['waiting', 'delayed', 'ready', 'held', 'failed', 'canceled', 'skipped'],
  prioritize: ['waiting', 'delayed', 'ready', 'held'],
} as const

/** How the engine answers a refusal of the model's: a lost lease and a cancel are told by taking nothing. */
function asAnswer(refusal: string | null): [boolean, string | null] {
  if (refusal === null) return [true, null]
  return refusal === 'lease_lost' || refusal === 'canceling' ? [false, null] : [false, refusal]
}
