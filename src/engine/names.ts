import type { Db } from '../db/index.ts'
import type { AddItem } from './add.ts'
import { InvalidOption, UnknownKind } from './errors.ts'
import { gateIds, knownKinds, laneIds } from './tasks.sql.ts'
import type { AnyWorker } from './worker.ts'

/**
 * The numbers that lanes and gates have in the database, by name. They never change, so each is asked for once.
 * Asked for outside of any transaction of the caller's: two that make the same name must not wait for each other.
 */
export class Names {
  readonly #db: Db
  readonly #lanes = new Map<string, number>()
  readonly #gates = new Map<string, { id: number; capacity: number }>()
  readonly #workers = new Map<string, AnyWorker>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Makes a worker known by its kind, so that tasks can be added by that name. */
  define(worker: AnyWorker): void {
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
    const wanted = items.map((item) => {
      if (item.worker === undefined) return null
      const kind = typeof item.worker === 'string' ? item.worker : item.worker.kind
      const worker = typeof item.worker === 'string' ? this.#workers.get(kind) : item.worker
      return { kind, queue: item.queue ?? worker?.queue ?? 'default', isNamed: worker === undefined }
    })
    const missing = wanted.filter((lane) => lane !== null && !this.#lanes.has(nameOf(lane.queue, lane.kind)))
    await this.#refuseUnknown(missing.flatMap((lane) => (lane?.isNamed ? [lane.kind] : [])))
    if (missing.length > 0) await this.laneIds(missing.flatMap((lane) => (lane === null ? [] : [lane])))
    return wanted.map((lane) => (lane === null ? null : (this.#lanes.get(nameOf(lane.queue, lane.kind)) as number)))
  }

  async #refuseUnknown(kinds: readonly string[]): Promise<void> {
    if (kinds.length === 0) return
    const known = (await knownKinds(this.#db, {})).map((row) => row.kind)
    const unknown = kinds.find((kind) => !known.includes(kind))
    if (unknown !== undefined) throw new UnknownKind(unknown, known)
  }

  async laneIds(lanes: readonly { queue: string; kind: string }[]): Promise<number[]> {
    const distinct = [...new Map(lanes.map((lane) => [nameOf(lane.queue, lane.kind), lane])).values()]
    const { ids } = await laneIds(this.#db, {
      queues: distinct.map((lane) => lane.queue),
      kinds: distinct.map((lane) => lane.kind),
    })
    distinct.forEach((lane, i) => {
      this.#lanes.set(nameOf(lane.queue, lane.kind), ids[i] as number)
    })
    return lanes.map((lane) => this.#lanes.get(nameOf(lane.queue, lane.kind)) as number)
  }

  /** The gates that items must pass: pairs of the item's position and the gate. */
  async gates(items: readonly AddItem[]): Promise<[item: number, gate: number][]> {
    const wanted: [item: number, name: string, capacity: number][] = []
    items.forEach((item, i) => {
      for (const lock of item.locks ?? []) wanted.push([i, `lock ${lock}`, 1])
      if (item.limit !== undefined) wanted.push([i, `limit ${item.limit.group}`, item.limit.max])
    })
    const fresh = new Map<string, number>()
    for (const [, name, capacity] of wanted) if (this.#gates.get(name)?.capacity !== capacity) fresh.set(name, capacity)
    if (fresh.size > 0) {
      const names = [...fresh.keys()]
      const { ids } = await gateIds(this.#db, { names, capacities: [...fresh.values()] })
      names.forEach((name, i) => {
        this.#gates.set(name, { id: ids[i] as number, capacity: fresh.get(name) as number })
      })
    }
    // Locks before limits, each by number: one order for all tasks keeps them from waiting for each other, and nobody
    // takes up a place of a limit while it waits for a lock.
    const isLimit = (name: string) => Number(name.startsWith('limit '))
    const ordered = wanted
      .map(([item, name]) => ({ item, name, gate: (this.#gates.get(name) as { id: number }).id }))
      .sort((a, b) => a.item - b.item || isLimit(a.name) - isLimit(b.name) || a.gate - b.gate)
    return ordered
      .filter(({ item, gate }, i) => ordered[i - 1]?.item !== item || ordered[i - 1]?.gate !== gate)
      .map(({ item, gate }) => [item, gate])
  }
}

const nameOf = (queue: string, kind: string) => `${queue}\u0000${kind}`
