// What planning knows of earlier revisions: read once for a run of revisions, then kept up as they are planned.
import type { Client, Db } from '../db/index.ts'
import type { ItemRef } from '../engine/index.ts'
import { formatKey, parseKey } from './definition/key.ts'
import type { History, Plan } from './definition/plan.ts'
import type { Definition } from './definition/read-definition.ts'
import { closeTasks, nearestOpen, openTasks, previousTasks } from './planning.sql.ts'

export type Names = { readonly previous: string[]; readonly unfinished: string[]; readonly exclusive: boolean }

/** A task that exists, or the place of one among those that are being added. */
export type Ref = { readonly task: string } | ItemRef

/** Names whose tasks cancel all earlier ones of the same name, and are canceled by tasks of no other. */
export function chainedNames({ workflows }: Definition): ReadonlySet<string> {
  const tasks = workflows.flatMap((workflow) => workflow.tasks)
  const cancels = tasks.flatMap(({ name: by, cancels: list }) =>
    list.flatMap(({ name, isPrevious }) => (isPrevious ? [{ by, name }] : [])),
  )
  const others = new Set(cancels.filter(({ by, name }) => by !== name).map(({ name }) => name))
  return new Set(cancels.filter(({ by, name }) => by === name && !others.has(name)).map(({ name }) => name))
}

type Open = {
  readonly key: string
  readonly number: number
  readonly isExclusive: boolean
  /** It cancels all earlier ones of its name that were unfinished when it was planned. */
  readonly isChained: boolean
  /** It was not unfinished when those after it were planned: asked for again, or a run of its own. */
  readonly isLate: boolean
}
type Nearest = { readonly rev: number; tasks: readonly { readonly key: string; readonly isOver: boolean }[] }
type OpenRow = Awaited<ReturnType<typeof openTasks>>[number]

export type Asked = {
  readonly id: string
  readonly archive: string
  /** The last revision that counts as earlier. */
  readonly upTo: number
  readonly names: Names
  /** Names whose tasks cancel their own earlier ones, and are canceled by no others. */
  readonly chained: ReadonlySet<string>
}

export class ArchiveHistory {
  readonly #refs = new Map<string, Ref>()
  readonly #nearest = new Map<string, Nearest>()
  readonly #open = new Map<string, Open[]>()
  readonly #late = new Map<string, Open[]>()
  readonly #exclusive: Open[] = []
  /** Tasks that count as unfinished and are over, with how often they were opened. */
  readonly #over = new Map<string, number>()
  readonly #chained: ReadonlySet<string>

  private constructor(chained: ReadonlySet<string>) {
    this.#chained = chained
  }

  /** Reads it in the transaction that plans, nobody else plans this archive meanwhile, and takes out what is over. */
  static async readToPlan(tx: Client, asked: Asked): Promise<ArchiveHistory> {
    const history = await ArchiveHistory.read(tx, asked)
    const over = [...history.#over]
    if (over.length > 0)
      await closeTasks(tx, { tasks: over.map(([task]) => task), opened: over.map(([, opened]) => opened) })
    return history
  }

  /** Reads it and writes nothing. */
  static async read(db: Db, { id, archive, upTo, names, chained }: Asked): Promise<ArchiveHistory> {
    const history = new ArchiveHistory(chained)
    const toKey = (row: { name: string; number: string; run: string }) =>
      formatKey({ archive, rev: Number(row.number), name: row.name, run: row.run === '' ? undefined : row.run })
    const asked = { archive: id, up_to: String(upTo) }
    for (const row of await previousTasks(db, { ...asked, names: names.previous })) {
      const one = { key: toKey(row), isOver: !row.is_live }
      history.#addNearest(row.name, Number(row.number), one, { task: row.task })
      if (row.is_open && !row.is_live) history.#over.set(row.task, row.opened)
    }
    for (const row of await readOpen(db, asked, { names, chained })) {
      if (!row.is_live) {
        history.#over.set(row.task, row.opened)
        continue
      }
      const one = {
        key: toKey(row),
        number: Number(row.number),
        isExclusive: row.is_exclusive,
        isChained: row.is_chained,
        isLate: row.is_late,
      }
      history.#addOpen(row.name, one, { task: row.task })
    }
    return history
  }

  /** What is earlier for a run at that revision: for a commit's own, what lies before it; else also what it has already. */
  before(rev: number): History {
    return {
      previousOf: (name) => {
        const nearest = this.#nearest.get(name)
        return nearest && { rev: nearest.rev, keys: nearest.tasks.map(({ key }) => key) }
      },
      unfinishedOf: (name) => this.#unfinished(name).map(({ key }) => key),
      unfinishedExclusive: () => this.#exclusive.filter(({ number }) => number < rev).map(({ key }) => key),
    }
  }

  /** Takes in what was planned; `at` is the place of its first task among those that are being added. */
  remember({ rev, commit, tasks }: Plan, at: number): void {
    const number = Number(rev)
    const all = commit === undefined ? tasks : [commit, ...tasks]
    all.forEach((task, i) => {
      const ref = { item: at + i }
      this.#addNearest(task.name, number, { key: task.key, isOver: false }, ref)
      if (task === commit || !('locks' in task)) return
      this.#addOpen(
        task.name,
        {
          key: task.key,
          number,
          isExclusive: task.locks.length > 0,
          isChained: commit !== undefined && this.#chained.has(task.name),
          isLate: commit === undefined,
        },
        ref,
      )
    })
  }

  /**
   * Where tasks of a name cancel all earlier ones, the nearest stands for those before it, which it has in its own list:
   * the engine follows that (`isChain`). What came late is in nobody's list.
   */
  #unfinished(name: string): readonly Open[] {
    const open = this.#open.get(name) ?? []
    if (!this.#chained.has(name)) return open
    const nearest = open.findLastIndex(({ isChained, isLate }) => isChained && !isLate)
    return nearest < 0 ? open : [...(this.#late.get(name) ?? []), ...open.slice(nearest)]
  }

  /** Whether a task of that name that cancels that key stands at the end of a chain. */
  isChain(name: string, key: string): boolean {
    return this.#chained.has(name) && parseKey(key)?.name === name
  }

  refOf(key: string): Ref {
    const ref = this.#refs.get(key)
    if (ref === undefined) throw new Error(`no task is known under the key ${key}`)
    return ref
  }

  /** They come in the order in which they were made: of those that are over, the newest alone says how it went. */
  #addNearest(name: string, rev: number, task: Nearest['tasks'][number], ref: Ref): void {
    this.#refs.set(task.key, ref)
    const nearest = this.#nearest.get(name)
    if (nearest?.rev === rev) nearest.tasks = [...nearest.tasks.filter(({ isOver }) => !isOver), task]
    else this.#nearest.set(name, { rev, tasks: [task] })
  }

  #addOpen(name: string, open: Open, ref: Ref): void {
    this.#refs.set(open.key, ref)
    const list = this.#open.get(name)
    if (list === undefined) this.#open.set(name, [open])
    else list.push(open)
    if (open.isLate) this.#late.set(name, [...(this.#late.get(name) ?? []), open])
    if (open.isExclusive) this.#exclusive.push(open)
  }
}

type Range = { readonly archive: string; readonly up_to: string }

/** The tasks that may be unfinished: of names that are chains, from the nearest unfinished one on. */
async function readOpen(
  db: Db,
  range: Range,
  { names: { unfinished, exclusive }, chained }: Pick<Asked, 'names' | 'chained'>,
): Promise<OpenRow[]> {
  if (unfinished.length === 0 && !exclusive) return []
  const own = unfinished.filter((name) => chained.has(name))
  const nearest = own.length === 0 ? [] : await nearestOpen(db, { ...range, names: own })
  const floors = new Map(nearest.map((row) => [row.name, row.number]))
  const names = { names: unfinished, floors: unfinished.map((name) => floors.get(name) ?? '0') }
  const open = await openTasks(db, { ...range, ...names, exclusive })
  // Over since it was found, it stands for nobody: those before it have to be read, too.
  const isThere = ([name, floor]: readonly [string, string]) =>
    open.some((row) => row.name === name && row.number === floor && row.is_live && row.is_chained && !row.is_late)
  const lost = new Set([...floors].filter((one) => !isThere(one)).map(([name]) => name))
  if (lost.size === 0) return open
  const again = { names: [...lost], floors: [...lost].map(() => '0'), exclusive: false }
  return [...open.filter(({ name }) => !lost.has(name)), ...(await openTasks(db, { ...range, ...again }))]
}
