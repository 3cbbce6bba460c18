// The tree of nodes as far as it was opened. It asks for a page of children when a node is opened, and changes rows in
// place when events tell of them. It knows no browser: how to ask is given.
import type { LiveEvent } from '../../live.ts'
import { type Later, Pace } from '../../pace.ts'
import { Backlog } from './backlog.ts'
import { patchRow, type TreeRow } from './patch-row.ts'

/** What the rows at the top are: the trees, one node, or all nodes that fit a filter. */
export type Top =
  | { readonly is: 'roots' }
  | { readonly is: 'node'; readonly id: string }
  | { readonly is: 'filter'; readonly state?: string | undefined; readonly type?: string | undefined }

export type NodeQuery = {
  readonly parent?: string
  readonly down?: string
  readonly new?: string
  readonly state?: string
  readonly type?: string
  readonly order?: 'newest'
  readonly start?: string
  readonly pid?: string
  readonly limit: number
}
type Next = { readonly start: string; readonly pid: string }
export type NodePage = { readonly rows: readonly TreeRow[]; readonly next?: Next | undefined }
export type AskNodes = (query: NodeQuery) => Promise<NodePage>

export type TreeLine =
  | {
      readonly is: 'node'
      readonly key: string
      readonly row: TreeRow
      readonly level: number
      readonly position: number
      /** How many siblings there are, itself included; -1: not known. */
      readonly size: number
      readonly isOpen: boolean
      readonly hasChildren: boolean
    }
  | { readonly is: 'more'; readonly key: string; readonly of: string; readonly level: number }
  | { readonly is: 'loading'; readonly key: string; readonly of: string; readonly level: number }
  | { readonly is: 'failed'; readonly key: string; readonly of: string; readonly level: number; readonly error: Error }

type Branch = {
  readonly ids: readonly string[]
  readonly next?: Next | undefined
  readonly isLoading: boolean
  readonly error?: Error | undefined
}

export type TreeView = {
  readonly lines: readonly TreeLine[]
  readonly isLoading: boolean
  readonly error: Error | undefined
  /** How many trees came that are not shown yet. */
  readonly newCount: number
  /** The rows may not be those that fit the filter any more. */
  readonly isOutdated: boolean
}

const PAGE = 100
/** What is opened at once by `openBelow`, and asked for again after a break. */
const MOST_AT_ONCE = 500
/** So many rows are asked for one by one; for more, what is shown is asked for again. */
const MOST_SINGLE = 20
/** What events do not tell is asked for at most so often, however much happens. */
const FRESH_MS = 1_000
const TOP = ''
const EMPTY: Branch = { ids: [], isLoading: true }

export class NodeTree {
  readonly #ask: AskNodes
  readonly #top: Top
  readonly #rows = new Map<string, TreeRow>()
  readonly #branches = new Map<string, Branch>()
  readonly #open = new Set<string>()
  readonly #watchers = new Set<() => void>()
  readonly #pace: Pace
  readonly #backlog = new Backlog()
  #arrived: readonly string[] = []
  #isOutdated = false
  #view: TreeView | undefined
  /** Whether new trees are shown at once; not while somebody reads further down. */
  isAtTop = true

  constructor(ask: AskNodes, top: Top, later?: Later) {
    this.#ask = ask
    this.#top = top
    this.#pace = new Pace(() => this.#catchUp(), FRESH_MS, later)
  }

  /** Nobody looks at it any more: asks for nothing by itself. */
  stop(): void {
    this.#pace.close()
  }

  subscribe = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  get view(): TreeView {
    this.#view ??= this.#draw()
    return this.#view
  }

  row(id: string): TreeRow | undefined {
    return this.#rows.get(id)
  }

  isOpen(id: string): boolean {
    return this.#open.has(id)
  }

  /** Asks for the rows at the top. */
  async start(): Promise<void> {
    await this.#load(TOP, PAGE)
    if (this.#top.is === 'node' && this.#rows.has(this.#top.id)) await this.open(this.#top.id)
  }

  async open(id: string): Promise<void> {
    this.#open.add(id)
    this.#changed()
    if (!this.#branches.has(id)) await this.#load(id, PAGE)
  }

  close(id: string): void {
    this.#open.delete(id)
    this.#changed()
  }

  /** Opens what is below a node, level by level, as far as one answer reaches. */
  async openBelow(id: string): Promise<void> {
    const { rows } = await this.#ask({ down: id, limit: MOST_AT_ONCE + 1 })
    const children = new Map<string, string[]>()
    for (const row of rows) {
      this.#keep(row)
      if (row.id !== id) children.set(row.parent, [...(children.get(row.parent) ?? []), row.id])
    }
    for (const [parent, ids] of children) {
      // What the end of the answer cut through stays closed, and comes by pages when it is opened.
      if (this.#rows.get(parent)?.children !== ids.length) continue
      this.#branches.set(parent, { ids, isLoading: false })
      this.#open.add(parent)
    }
    await this.open(id)
  }

  /** Asks for the next page of a branch; of one that failed, again. */
  async loadMore(of: string): Promise<void> {
    const branch = this.#branches.get(of)
    if (branch === undefined || branch.isLoading) return
    if (branch.error !== undefined && branch.next === undefined) return this.#load(of, PAGE)
    if (branch.next !== undefined) await this.#load(of, PAGE, branch.next)
  }

  /** Shows the trees that came meanwhile, or asks for the filtered rows again. */
  async refresh(): Promise<void> {
    const arrived = this.#arrived
    this.#arrived = []
    this.#isOutdated = false
    if (this.#top.is === 'filter') return this.#reload(TOP)
    this.#prepend(arrived)
    this.#changed()
  }

  /** Events may be missing: asks again for what is shown. */
  async reset(): Promise<void> {
    this.#backlog.clear()
    const shown = [TOP, ...[...this.#open].filter((id) => this.#branches.has(id))]
    for (const id of this.#branches.keys()) if (!shown.includes(id)) this.#branches.delete(id)
    await Promise.all(shown.map((of) => this.#reload(of)))
  }

  /** Takes in what happened; asks for what events do not tell, soon. */
  async hear(events: readonly LiveEvent[]): Promise<void> {
    for (const event of events) {
      const { first, count = 0 } = (event.detail ?? {}) as { first?: string; count?: number }
      if (event.name !== 'node.added') this.#take(event)
      else if (first !== undefined) this.#backlog.grow(first, count)
    }
    if (this.#top.is === 'filter') this.#isOutdated = true
    this.#changed()
    if (!this.#backlog.isEmpty) await this.#pace.ask()
  }

  async #catchUp(): Promise<void> {
    // A filtered list does not jump under its reader: there, rows are asked for by and by.
    const isMuch = this.#backlog.unsureCount > MOST_SINGLE && this.#top.is !== 'filter'
    if (isMuch || this.#backlog.addedCount > MOST_AT_ONCE) return this.reset()
    const batch = this.#backlog.take(MOST_SINGLE)
    try {
      if (batch.added !== undefined) await this.#fetchAdded(batch.added.first, batch.added.count)
      await Promise.all(batch.unsure.map((id) => this.#fetchOne(id)))
    } catch (error) {
      // It is asked for again with what happens next.
      this.#backlog.putBack(batch)
      throw error
    }
    if (!this.#backlog.isEmpty) void this.#pace.ask()
  }

  #take(event: LiveEvent): void {
    const { key: id } = event
    if (id === null) return
    if (event.name === 'node.removed') {
      this.#backlog.drop(id)
      this.#remove(id)
      return
    }
    const row = this.#rows.get(id)
    const { parent } = (event.detail ?? {}) as { parent?: string }
    const isMovedHere = event.name === 'node.moved' && this.#branches.has(parent ?? TOP)
    if (row === undefined && !isMovedHere) return
    if (row === undefined || event.name.startsWith('node.')) {
      this.#backlog.doubt(id)
      return
    }
    const patched = patchRow(row, event)
    this.#rows.set(id, patched.row)
    if (patched.isUnsure) this.#backlog.doubt(id)
  }

  async #fetchAdded(first: string, count: number): Promise<void> {
    const { rows } = await this.#ask({ new: String(BigInt(first) - 1n), limit: Math.max(1, count) })
    for (const row of rows) this.#insert(row)
    this.#changed()
  }

  async #fetchOne(id: string): Promise<void> {
    const [row] = (await this.#ask({ down: id, limit: 1 })).rows
    if (row === undefined) return this.#remove(id)
    const isElsewhere = this.#rows.get(id)?.parent !== row.parent
    this.#keep(row)
    if (isElsewhere) {
      this.#rows.delete(id)
      this.#insert(row)
    }
    this.#changed()
  }

  /** Takes a row as the server told it; one that was moved leaves the place where it was. */
  #keep(row: TreeRow): void {
    const before = this.#rows.get(row.id)
    if (before !== undefined && before.parent !== row.parent) this.#detach(row.id, before.parent)
    this.#rows.set(row.id, row)
  }

  #insert(row: TreeRow): void {
    const isNew = !this.#rows.has(row.id)
    const isRoot = row.parent === 'root'
    const isNear = isRoot ? this.#top.is === 'roots' : this.#rows.has(row.parent) || this.#branches.has(row.parent)
    // Nodes come from everywhere; what stands where nobody has looked would only fill the memory.
    if (isNew && !isNear) return
    this.#rows.set(row.id, row)
    if (isRoot) {
      if (this.#top.is !== 'roots' || this.#arrived.includes(row.id)) return
      if (this.isAtTop) this.#prepend([row.id])
      else if (!this.#branches.get(TOP)?.ids.includes(row.id)) this.#arrived = [...this.#arrived, row.id]
      return
    }
    const parent = this.#rows.get(row.parent)
    if (parent !== undefined && isNew) this.#rows.set(parent.id, { ...parent, children: parent.children + 1 })
    const branch = this.#branches.get(row.parent)
    const isReached = branch?.next === undefined || BigInt(row.id) <= BigInt(branch.next.start)
    if (branch === undefined || branch.ids.includes(row.id) || !isReached) return
    const ids = [...branch.ids, row.id].sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1))
    this.#branches.set(row.parent, { ...branch, ids })
  }

  #prepend(ids: readonly string[]): void {
    const branch = this.#branches.get(TOP)
    if (branch === undefined) return
    const fresh = ids.filter((id) => !branch.ids.includes(id)).reverse()
    if (fresh.length > 0) this.#branches.set(TOP, { ...branch, ids: [...fresh, ...branch.ids] })
  }

  #remove(id: string): void {
    const row = this.#rows.get(id)
    this.#detach(id, row?.parent ?? 'root')
    const below = [id]
    for (const one of below) {
      below.push(...(this.#branches.get(one)?.ids ?? []))
      this.#branches.delete(one)
      this.#open.delete(one)
      this.#rows.delete(one)
    }
    this.#arrived = this.#arrived.filter((one) => one !== id)
    this.#changed()
  }

  #detach(id: string, from: string): void {
    for (const key of [TOP, from]) {
      const branch = this.#branches.get(key)
      if (branch?.ids.includes(id)) this.#branches.set(key, { ...branch, ids: branch.ids.filter((one) => one !== id) })
    }
    const parent = this.#rows.get(from)
    if (parent !== undefined) this.#rows.set(from, { ...parent, children: Math.max(0, parent.children - 1) })
  }

  async #load(of: string, limit: number, next?: Next): Promise<void> {
    const before = this.#branches.get(of) ?? EMPTY
    this.#branches.set(of, { ...before, isLoading: true, error: undefined })
    this.#changed()
    try {
      const isOne = of === TOP && this.#top.is === 'node'
      const page = await this.#ask({ ...this.#queryOf(of), ...next, limit: isOne ? 1 : limit })
      for (const row of page.rows) this.#keep(row)
      const known = next === undefined ? [] : (this.#branches.get(of)?.ids ?? [])
      const ids = [...new Set([...known, ...page.rows.map(({ id }) => id)])]
      this.#branches.set(of, { ids, next: page.next, isLoading: false })
      if (of === TOP) this.#arrived = this.#arrived.filter((id) => !ids.includes(id))
    } catch (error) {
      this.#branches.set(of, { ...before, isLoading: false, error: error as Error })
    }
    this.#changed()
  }

  #reload(of: string): Promise<void> {
    const { ids = [] } = this.#branches.get(of) ?? {}
    return this.#load(of, Math.min(MOST_AT_ONCE, Math.max(PAGE, ids.length)))
  }

  #queryOf(of: string): Omit<NodeQuery, 'limit'> {
    if (of !== TOP) return { parent: of }
    const top = this.#top
    if (top.is === 'roots') return { parent: 'root', order: 'newest' }
    // One node is the beginning of the line downwards from it.
    if (top.is === 'node') return { down: top.id }
    return {
      order: 'newest',
      ...(top.state === undefined ? {} : { state: top.state }),
      ...(top.type === undefined ? {} : { type: top.type }),
    }
  }

  #changed(): void {
    this.#view = undefined
    for (const watch of this.#watchers) watch()
  }

  #draw(): TreeView {
    const top = this.#branches.get(TOP) ?? EMPTY
    const lines: TreeLine[] = []
    this.#drawBranch(TOP, lines)
    return {
      lines,
      isLoading: top.isLoading && top.ids.length === 0,
      error: top.ids.length === 0 ? top.error : undefined,
      newCount: this.#arrived.length,
      isOutdated: this.#isOutdated,
    }
  }

  /** Without recursion: a tree may be deeper than the stack. */
  #drawBranch(from: string, lines: TreeLine[]): void {
    const stack: { of: string; at: number; level: number; ids: readonly string[] }[] = []
    const enter = (of: string, level: number) => stack.push({ of, at: 0, level, ids: this.#idsOf(of) })
    enter(from, 1)
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const id = frame.ids[frame.at]
      if (id === undefined) {
        stack.pop()
        this.#drawEnd(frame.of, frame.level, lines)
        continue
      }
      frame.at += 1
      const row = this.#rows.get(id)
      if (row === undefined) continue
      const isOpen = this.#open.has(id)
      const size = this.#branches.get(frame.of)?.next === undefined ? frame.ids.length : -1
      const hasChildren = row.children > 0 || (this.#branches.get(id)?.ids.length ?? 0) > 0
      lines.push({ is: 'node', key: id, row, level: frame.level, position: frame.at, size, isOpen, hasChildren })
      if (isOpen && hasChildren) enter(id, frame.level + 1)
    }
  }

  #idsOf(of: string): readonly string[] {
    const ids = this.#branches.get(of)?.ids ?? []
    return of === TOP && this.#top.is === 'node' ? ids.slice(0, 1) : ids
  }

  #drawEnd(of: string, level: number, lines: TreeLine[]): void {
    const branch = this.#branches.get(of)
    if (branch === undefined) return
    const { isLoading, error, next, ids } = branch
    if (of === TOP && ids.length === 0) return
    if (isLoading) lines.push({ is: 'loading', key: `loading ${of}`, of, level })
    else if (error !== undefined) lines.push({ is: 'failed', key: `failed ${of}`, of, level, error })
    else if (next !== undefined) lines.push({ is: 'more', key: `more ${of}`, of, level })
  }
}
