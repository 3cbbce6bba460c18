import { type Db, type Pool, unhurried } from '../db/index.ts'
import { type AddItem, checkOptions, type GivenItems, type RequirementRef, toCondition } from './add-options.ts'
import { CycleRefused, InvalidPayload, TaskNotFound, translated } from './errors.ts'
import type { Names } from './names.ts'
import { isStorable } from './output.ts'
import { parse } from './schema.ts'
import type { Condition, TaskId } from './task.ts'
import { addTasks } from './tasks.sql.ts'
import { checkText } from './text.ts'
import { withItem } from './which-item.ts'
import type { Requirement } from './worker.ts'

export type AddedTask = {
  readonly id: TaskId
  /** False when a task with that key was there already. */
  readonly isNew: boolean
}

/** The added tasks in the order of their items: of a list written out, as many as it has. */
export type AddedTasks<Items extends GivenItems> = { -readonly [K in keyof Items]: AddedTask }

export type AddContext = { readonly creator?: TaskId; readonly actor?: string }

const MANY = 1000

/** Adding very many at once may take longer than other statements. */
export const dbToAdd = (pool: Pool, count: number): Db => (count > MANY ? unhurried(pool) : pool)

/**
 * Adds the tasks with their edges in one round trip, in the transaction of `db` if it has one: all of them, or none
 * when anything is wrong.
 */
export async function add(
  db: Db,
  names: Names,
  items: readonly AddItem[],
  context: AddContext = {},
): Promise<AddedTask[]> {
  try {
    return await addAll(db, names, items, context)
  } catch (error) {
    throw items.length > 1 ? withItem(error, items) : error
  }
}

async function addAll(db: Db, names: Names, items: readonly AddItem[], context: AddContext): Promise<AddedTask[]> {
  if (items.length === 0) return []
  refuseCycle(items)
  checkText('actor', context.actor)
  const payloads = items.map((item, i) => toPayload(item, i, items.length, names))
  const lanes = await names.lanes(items)
  const { passed, limits } = await names.gates(items)
  const links = toLinks(items)
  const column = <T>(of: (item: AddItem) => T | null | undefined): (T | null)[] | null =>
    items.some((item) => of(item) != null) ? items.map((item) => of(item) ?? null) : null
  const { ids, existing } = await translated(() =>
    addTasks(db, {
      lanes,
      scopes: items.some((item) => item.scope !== undefined) ? items.map((item) => item.scope ?? 'default') : null,
      // As lines, of which each is one: an array of values would be quoted here and unquoted there, one by one, and an
      // array in JSON taken apart as a whole, in as much memory as ten times its length.
      payloads: payloads.some((payload) => payload !== null) ? payloads.map((text) => text ?? 'null').join('\n') : null,
      priorities: column((item) => item.priority),
      keys: column((item) => item.key),
      max_attempts: column(
        (item) => item.maxAttempts ?? (typeof item.worker === 'object' ? item.worker.maxAttempts : null),
      ),
      not_before: column((item) => item.notBefore),
      delays: column((item) => item.delaySeconds),
      held_by: column((item) => item.heldBy),
      ...links,
      gate_items: passed.length > 0 ? passed.map(([item]) => item + 1) : null,
      gates: passed.length > 0 ? passed.map(([, gate]) => gate) : null,
      limits: limits.length > 0 ? limits.map(([gate]) => gate) : null,
      capacities: limits.length > 0 ? limits.map(([, capacity]) => capacity) : null,
      creator: context.creator ?? null,
      actor: context.actor ?? null,
    }),
  )
  return ids.split(',').map((id, i) => ({ id, isNew: existing?.[i] == null }))
}

function toPayload(item: AddItem, position: number, count: number, names: Names): string | null {
  checkOptions(item)
  if (item.payload === undefined && item.worker === undefined) return null
  const where = count > 1 ? ` (item ${position})` : ''
  const worker = typeof item.worker === 'string' ? names.worker(item.worker) : item.worker
  if (worker !== undefined) parse(worker.payload, item.payload, worker.kind, where)
  const kind = typeof item.worker === 'string' ? item.worker : (item.worker?.kind ?? 'milestone')
  const text = toJson(item.payload, kind, where)
  if (text === undefined) return null
  if (!isStorable(text)) {
    throw new InvalidPayload(kind, where, [
      { path: '', message: 'contains a character that cannot be stored (U+0000 or half a surrogate pair)' },
    ])
  }
  return text
}

function toJson(payload: unknown, kind: string, where: string): string | undefined {
  try {
    return JSON.stringify(payload)
  } catch (error) {
    throw new InvalidPayload(kind, where, [{ path: '', message: (error as Error).message }])
  }
}

/** A task's id, or minus the 1-based position of an item of this call. */
type Reference = TaskId | number

type Links = {
  edge_items: number[] | null
  edge_prerequisites: Reference[] | null
  edge_conditions: string[] | null
  cancel_items: number[] | null
  cancel_targets: Reference[] | null
  cancel_chains: boolean[] | null
}

function toLinks(items: readonly AddItem[]): Links {
  const edges = { items: [] as number[], prerequisites: [] as Reference[], conditions: [] as Condition[] }
  const cancels = { items: [] as number[], targets: [] as Reference[], chains: [] as boolean[] }
  items.forEach((item, i) => {
    if (item.requires !== undefined) {
      const named = item.requires.length > 1 ? new Set<string | number>() : undefined
      for (const required of item.requires) {
        const prerequisite = toReference(required, items.length)
        const condition = toCondition(typeof required === 'string' ? 'succeeded' : (required.when ?? 'succeeded'))
        const edge = condition === 'succeeded' ? prerequisite : `${prerequisite} ${condition}`
        if (named?.has(edge)) continue
        named?.add(edge)
        edges.items.push(i + 1)
        edges.prerequisites.push(prerequisite)
        edges.conditions.push(condition)
      }
    }
    if (item.cancels !== undefined) {
      for (const target of item.cancels) {
        cancels.items.push(i + 1)
        cancels.targets.push(toReference(target, items.length))
        cancels.chains.push(typeof target === 'object' && target.isChain === true)
      }
    }
  })
  const [hasEdges, hasCancels] = [edges.items.length > 0, cancels.items.length > 0]
  return {
    edge_items: hasEdges ? edges.items : null,
    edge_prerequisites: hasEdges ? edges.prerequisites : null,
    edge_conditions: edges.conditions.some((condition) => condition !== 'succeeded') ? edges.conditions : null,
    cancel_items: hasCancels ? cancels.items : null,
    cancel_targets: hasCancels ? cancels.targets : null,
    cancel_chains: cancels.chains.includes(true) ? cancels.chains : null,
  }
}

function toReference(of: RequirementRef, count: number): Reference {
  if (typeof of === 'object' && 'item' in of) {
    if (!(Number.isInteger(of.item) && of.item >= 0 && of.item < count))
      throw new TaskNotFound(`item ${of.item} of this call`)
    return -(of.item + 1)
  }
  return toTaskId(typeof of === 'string' ? of : of.task)
}

/** The id itself. Throws `TaskNotFound` for what cannot be one. */
export function toTaskId(id: string): TaskId {
  if (!/^[1-9]\d{0,17}$/.test(id)) throw new TaskNotFound(String(id))
  return id
}

/** Requirements on existing tasks as the database takes them. */
export function toEdges(requires: readonly Requirement[]): { prerequisites: TaskId[]; conditions: Condition[] } {
  return {
    prerequisites: requires.map((required) => toTaskId(typeof required === 'string' ? required : required.task)),
    conditions: requires.map((required) =>
      toCondition(typeof required === 'string' ? 'succeeded' : (required.when ?? 'succeeded')),
    ),
  }
}

const itemOf = (required: RequirementRef) => (typeof required === 'object' && 'item' in required ? required.item : -1)

/** Refuses edges among the items of one call that close a cycle; an edge to an existing task cannot. */
function refuseCycle(items: readonly AddItem[]): void {
  // What waits for earlier items alone, as most do, closes none.
  if (items.every((item, i) => (item.requires ?? []).every((required) => itemOf(required) < i))) return
  const above = items.map((item) => (item.requires ?? []).map(itemOf).filter((at) => at >= 0))
  const state = new Uint8Array(items.length) // 1: on the path, 2: known to be free of cycles
  for (let start = 0; start < items.length; start += 1) {
    if (state[start] !== 0) continue
    const path: { item: number; next: number }[] = [{ item: start, next: 0 }]
    state[start] = 1
    while (path.length > 0) {
      const top = path[path.length - 1] as { item: number; next: number }
      const required = above[top.item]?.[top.next]
      top.next += 1
      if (required === undefined) {
        state[top.item] = 2
        path.pop()
      } else if (state[required] === 1) {
        const from = path.findIndex((step) => step.item === required)
        throw new CycleRefused([...path.slice(from).map((step) => `item ${step.item}`), `item ${required}`])
      } else if (state[required] === 0) {
        state[required] = 1
        path.push({ item: required, next: 0 })
      }
    }
  }
}
