import type { Db } from '../db/index.ts'
import { type AddItem, checkWorker } from './add-options.ts'
import { InvalidOption, UnknownKind } from './errors.ts'
import { gateIds, knownKinds, laneIds } from './tasks.sql.ts'
import { checkPlainName } from './text.ts'
import type { AnyWorker } from './worker.ts'

type Gates = {
  readonly passed: readonly (readonly [item: number, gate: number])[]
  readonly limits: readonly (readonly [gate: number, capacity: number])[]
}
type Lane = { readonly queue: string; readonly kind: string }

/**
 * The numbers that lanes and gates have in the database, by name. They never change, so each is asked for once.
 * Asked for outside of any transaction of the caller's: two that make the same name must not wait for each other.
 */
export class Names {
  readonly #db: Db
  /** By kind, then by queue: looked up for each of many tasks. */
  readonly #lanes = new Map<string, Map<string, number>>()
  readonly #gates = new Map<string, number>()
  readonly #workers = new Map<string, AnyWorker>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Makes a worker known by its kind, so that tasks can be added by that name. */
  define(worker: AnyWorker): void {
    checkWorker(worker)
    const known = this.#workers.get(worker.kind)
    if (known !== undefined && known !== worker)
      throw new InvalidOption(`two workers are defined for kind "${worker.kind}"`)
    this.#workers.set(worker.kind, worker)
  }

  worker(kind: string): AnyWorker | undefined {
    return this.#workers.get(kind)
  }

  /** The lane of each item; null for a milestone. */
  async lanes(items: readonly AddItem[]): Promise<(number | null)[]> {
    const lanes = items.map((item) => this.#laneOf(item))
    if (!lanes.includes(undefined)) return lanes as (number | null)[]
    const missing = items.flatMap(({ worker, queue }, i) =>
      worker !== undefined && lanes[i] === undefined ? [this.#laneNamed(worker, queue)] : [],
    )
    await this.#refuseUnknown(missing.flatMap(({ kind, isNamed }) => (isNamed ? [kind] : [])))
    await this.laneIds(missing)
    return items.map((item) => this.#laneOf(item) as number | null)
  }

  #laneNamed(given: AnyWorker | string, queue: string | undefined): Lane & { readonly isNamed: boolean } {
    const kind = typeof given === 'string' ? given : given.kind
    const worker = typeof given === 'string' ? this.#workers.get(kind) : given
    return { kind, queue: queue ?? worker?.queue ?? 'default', isNamed: worker === undefined }
  }

  /** Null for a milestone, undefined for one that has not been asked for yet. */
  #laneOf({ worker: given, queue }: AddItem): number | null | undefined {
    if (given === undefined) return null
    const lane = this.#laneNamed(given, queue)
    return this.#lanes.get(lane.kind)?.get(lane.queue)
  }

  async #refuseUnknown(kinds: readonly string[]): Promise<void> {
    if (kinds.length === 0) return
    const known = (await knownKinds(this.#db, {})).map((row) => row.kind)
    const unknown = kinds.find((kind) => !known.includes(kind))
    if (unknown !== undefined) throw new UnknownKind(unknown, known)
  }

  async laneIds(lanes: readonly Lane[]): Promise<number[]> {
    const distinct = [...new Map(lanes.map((lane) => [nameOf(lane), lane])).values()]
    for (const { queue, kind } of distinct) {
      checkPlainName('kind', kind)
      checkPlainName('queue', queue)
    }
    const { ids } = await laneIds(this.#db, {
      queues: distinct.map((lane) => lane.queue),
      kinds: distinct.map((lane) => lane.kind),
    })
    distinct.forEach(({ queue, kind }, i) => {
      const ofKind = this.#lanes.get(kind) ?? new Map<string, number>()
      this.#lanes.set(kind, ofKind.set(queue, ids[i] as number))
    })
    return lanes.map(({ queue, kind }) => this.#lanes.get(kind)?.get(queue) as number)
  }

  /** The gates that items must pass: pairs of the item's position and the gate. And how many each limit is to let in. */
  async gates(items: readonly AddItem[]): Promise<Gates> {
    const wanted: [item: number, name: string][] = []
    const capacities = new Map<string, number>()
    items.forEach((item, i) => {
      for (const lock of item.locks ?? []) wanted.push([i, `lock ${lock}`])
      if (item.limit === undefined) return
      wanted.push([i, `limit ${item.limit.group}`])
      capacities.set(`limit ${item.limit.group}`, item.limit.max)
    })
    const fresh = [...new Set(wanted.map(([, name]) => name))].filter((name) => !this.#gates.has(name))
    if (fresh.length > 0) {
      const { ids } = await gateIds(this.#db, {
        names: fresh,
        capacities: fresh.map((name) => capacities.get(name) ?? 1), // a lock has one place
      })
      for (const [i, name] of fresh.entries()) this.#gates.set(name, ids[i] as number)
    }
    const idOf = (name: string) => this.#gates.get(name) as number
    // Locks before limits, each by number: one order for all tasks keeps them from waiting for each other, and nobody
    // takes up a place of a limit while it waits for a lock.
    const isLimit = (name: string) => Number(name.startsWith('limit '))
    const ordered = wanted
      .map(([item, name]) => ({ item, name, gate: idOf(name) }))
      .sort((a, b) => a.item - b.item || isLimit(a.name) - isLimit(b.name) || a.gate - b.gate)
    return {
      passed: ordered
        .filter(({ item, gate }, i) => ordered[i - 1]?.item !== item || ordered[i - 1]?.gate !== gate)
        .map(({ item, gate }) => [item, gate]),
      limits: [...capacities].map(([name, capacity]) => [idOf(name), capacity]),
    }
  }
}

const nameOf = ({ queue, kind }: Lane) => `${queue}\u0000${kind}`
