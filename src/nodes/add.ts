import { z } from 'zod'
import { type AddItem, defineWorker } from '../engine/index.ts'
import { type Flaw, InvalidNode } from './errors.ts'
import {
  type Branch,
  COMMANDS_AT_ONCE,
  KIND,
  LIMIT,
  type Metadata,
  type NodeId,
  type NodeType,
  type RunIf,
  SCOPE,
  toCondition,
  toMetadata,
} from './node.ts'
import { drawIds, insertNodes, lockTree, readNodes } from './nodes.sql.ts'
import { type Spec, toSpec } from './spec.ts'
import { unstorable } from './storable.ts'
import { type NodeRow, type Tree, tell } from './tree.ts'

export type NewNode = {
  readonly type: NodeType
  /** `root`, the id of a node, or `#N` for an earlier one of the same call. */
  readonly parent: string
  readonly runIf?: RunIf | undefined
  readonly branch?: Branch | undefined
  readonly data: Readonly<Record<string, unknown>>
}

export type AddedNode = { readonly metadata: Metadata; readonly data: Readonly<Record<string, unknown>> }

/** A node with its place found and its data understood. */
type Planned = NewNode & {
  readonly id: NodeId
  readonly spec: Spec
  /** The position of its parent in the call, or the parent itself; null: root. */
  readonly above: number | NodeRow | null
}

const MOST_IDS_TOLD = 100

/**
 * Adds nodes, all of them or none, and answers them with their ids in the same order. What is wrong with them is thrown
 * as one `InvalidNode`.
 */
export async function addNodes(tree: Tree, items: readonly NewNode[]): Promise<AddedNode[]> {
  const specs = checkAll(items)
  await lockTree(tree.tx, {})
  const planned = await plan(tree, items, specs)
  const max = tree.commandsAtOnce ?? COMMANDS_AT_ONCE
  const tasks = await tree.millrace.addMany(
    planned.map((item) => toTask(item, max)),
    { client: tree.tx, actor: tree.actor },
  )
  const data = planned.flatMap(({ id, data }) => entriesOf(data).map(([key, value]) => ({ id, key, value })))
  await insertNodes(tree.tx, {
    ids: planned.map(({ id }) => id),
    parents: planned.map((item) => parentOf(item, planned)),
    tasks: tasks.map(({ id }) => id),
    types: planned.map(({ type }) => type),
    run_ifs: planned.map(({ spec }) => spec.run_if ?? null),
    branches: planned.map(({ spec }) => spec.branch ?? null),
    data_nodes: data.map(({ id }) => id),
    keys: data.map(({ key }) => key),
    values: data.map(({ value }) => JSON.stringify(value)),
  })
  const unchosen = planned.flatMap((item, i) => (isUnchosen(item) ? [tasks[i]?.id as string] : []))
  const cause = 'the if has chosen the other branch'
  if (unchosen.length > 0) await tree.millrace.skip(unchosen, { client: tree.tx, actor: tree.actor, cause })

  const ids = planned.map(({ id }) => id)
  await tell(tree, 'node.added', {
    first: ids[0],
    last: ids.at(-1),
    count: ids.length,
    ...(ids.length > MOST_IDS_TOLD ? {} : { nodes: ids }),
  })
  const rows = new Map((await readNodes(tree.tx, { ids })).map((row) => [row.id, row]))
  return planned.map(({ id, data }) => ({ metadata: toMetadata(rows.get(id) as NodeRow), data }))
}

/** What the tasks of nodes are added as; createNodeWorker performs them. */
const placeholder = defineWorker({ kind: KIND, payload: z.null().optional(), maxAttempts: 1, work: () => undefined })

/** A sleep or a condition waits: it has a place only while it is looked at, and must not wait for commands. */
const isWaiting = ({ type }: Planned) => type === 'sleep' || type === 'condition'

function toTask(item: Planned, max: number): AddItem {
  const when = toCondition(item.spec.run_if ?? null)
  const { above } = item
  return {
    worker: placeholder,
    payload: undefined,
    scope: SCOPE,
    key: item.id,
    ...(isWaiting(item) ? {} : { limit: { group: LIMIT, max } }),
    requires: above === null ? [] : [typeof above === 'number' ? { item: above, when } : { task: above.task, when }],
  }
}

function checkAll(items: readonly NewNode[]): Spec[] {
  const flaws: Flaw[] = []
  const specs = items.map((item, i): Spec => {
    const at = `/${i}/data`
    flaws.push(...unstorable(item.data, at))
    const meant = { ...item.data }
    for (const [key, given] of [
      ['run_if', item.runIf],
      ['branch', item.branch],
    ] as const) {
      if (given === undefined) continue
      if (Object.hasOwn(meant, key) && meant[key] !== given)
        flaws.push({ pointer: `${at}/${key}`, message: `says something else than metadata.${key}` })
      meant[key] = given
    }
    const spec = toSpec(item.type, meant, at)
    if (!Array.isArray(spec)) return spec
    flaws.push(...spec)
    return {}
  })
  if (flaws.length > 0) throw new InvalidNode(flaws)
  return specs
}

async function plan(tree: Tree, items: readonly NewNode[], specs: readonly Spec[]): Promise<Planned[]> {
  const named = [...new Set(items.flatMap(({ parent }) => (/^\d/.test(parent) ? [parent] : [])))]
  const parents = new Map((await readNodes(tree.tx, { ids: named })).map((row) => [row.id, row]))
  const flaws: Flaw[] = []
  const above = items.map(({ parent }, i): Planned['above'] => {
    if (parent === 'root') return null
    const position = parent.startsWith('#') ? Number(parent.slice(1)) : undefined
    const found = position === undefined ? parents.get(parent) : position < i ? position : undefined
    if (found !== undefined) return found
    const message =
      position === undefined ? `node ${parent} does not exist` : `${parent} is not an earlier node of this request`
    flaws.push({ pointer: `/${i}/metadata/parent`, message })
    return null
  })
  if (flaws.length > 0) throw new InvalidNode(flaws)
  const { ids } = await drawIds(tree.tx, { count: items.length })
  return items.map((item, i) => ({
    ...item,
    id: ids[i] as string,
    spec: specs[i] as Spec,
    above: above[i] as Planned['above'],
  }))
}

function parentOf({ above }: Planned, planned: readonly Planned[]): NodeId | null {
  if (above === null) return null
  return typeof above === 'number' ? (planned[above] as Planned).id : above.id
}

/** What is kept as data: where a node runs is kept with the node itself. */
const entriesOf = (data: Readonly<Record<string, unknown>>) =>
  Object.entries(data).filter(([key]) => key !== 'run_if' && key !== 'branch')

function isUnchosen({ above, spec }: Planned): boolean {
  return above !== null && typeof above === 'object' && hasChosenOther(above, spec.branch ?? null)
}

/** Whether the parent is an `if` that has chosen the other branch. */
export function hasChosenOther(parent: NodeRow, branch: Branch | null): boolean {
  if (parent.type !== 'if' || parent.state !== 'finished') return false
  return (parent.output as { branch?: string } | null)?.branch !== (branch ?? 'then')
}
