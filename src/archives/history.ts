// What planning knows of earlier revisions: read once for a run of revisions, then kept up as they are planned.
import type { Db } from '../db/index.ts'
import type { ItemRef } from '../engine/index.ts'
import { formatKey } from './definition/key.ts'
import type { History, Plan } from './definition/plan.ts'
import { closeTasks, openTasks, previousTasks } from './planning.sql.ts'

export type Names = { readonly previous: string[]; readonly unfinished: string[]; readonly exclusive: boolean }

/** A task that exists, or the place of one among those that are being added. */
export type Ref = { readonly task: string } | ItemRef

type Open = { readonly key: string; readonly number: number; readonly isExclusive: boolean }
type Nearest = { readonly rev: number; readonly keys: string[] }

export type Asked = {
  readonly id: string
  readonly archive: string
  /** The last revision that counts as earlier. */
  readonly upTo: number
  readonly names: Names
}

export class ArchiveHistory {
  readonly #refs = new Map<string, Ref>()
  readonly #nearest = new Map<string, Nearest>()
  readonly #open = new Map<string, Open[]>()
  readonly #exclusive: Open[] = []

  /** Reads it in the transaction that plans: nobody else plans this archive meanwhile. */
  static async read(db: Db, { id, archive, upTo, names }: Asked): Promise<ArchiveHistory> {
    const history = new ArchiveHistory()
    const toKey = (row: { name: string; number: string; run: string }) =>
      formatKey({ archive, rev: Number(row.number), name: row.name, run: row.run === '' ? undefined : row.run })
    const asked = { archive: id, up_to: String(upTo) }
    for (const row of await previousTasks(db, { ...asked, names: names.previous }))
      history.#addNearest(row.name, Number(row.number), toKey(row), { task: row.task })
    if (names.unfinished.length === 0 && !names.exclusive) return history
    const which = { names: names.unfinished, exclusive: names.exclusive }
    await closeTasks(db, { archive: id, ...which })
    for (const row of await openTasks(db, { ...asked, ...which })) {
      const open = { key: toKey(row), number: Number(row.number), isExclusive: row.is_exclusive }
      history.#addOpen(row.name, open, { task: row.task })
    }
    return history
  }

  /** What is earlier for a run at that revision: for a commit's own, what lies before it; else also what it has already. */
  before(rev: number): History {
    return {
      previousOf: (name) => this.#nearest.get(name),
      unfinishedOf: (name) => (this.#open.get(name) ?? []).map(({ key }) => key),
      unfinishedExclusive: () => this.#exclusive.filter(({ number }) => number < rev).map(({ key }) => key),
    }
  }

  /** Takes in what was planned; `at` is the place of its first task among those that are being added. */
  remember({ rev, commit, tasks }: Plan, at: number): void {
    const number = Number(rev)
    const all = commit === undefined ? tasks : [commit, ...tasks]
    all.forEach((task, i) => {
      const ref = { item: at + i }
      this.#addNearest(task.name, number, task.key, ref)
      if (task === commit || !('locks' in task)) return
      this.#addOpen(task.name, { key: task.key, number, isExclusive: task.locks.length > 0 }, ref)
    })
  }

  refOf(key: string): Ref {
    const ref = this.#refs.get(key)
    if (ref === undefined) throw new Error(`no task is known under the key ${key}`)
    return ref
  }

  #addNearest(name: string, rev: number, key: string, ref: Ref): void {
    this.#refs.set(key, ref)
    const nearest = this.#nearest.get(name)
    if (nearest?.rev === rev) nearest.keys.push(key)
    else this.#nearest.set(name, { rev, keys: [key] })
  }

  #addOpen(name: string, open: Open, ref: Ref): void {
    this.#refs.set(open.key, ref)
    const list = this.#open.get(name)
    if (list === undefined) this.#open.set(name, [open])
    else list.push(open)
    if (open.isExclusive) this.#exclusive.push(open)
  }
}
