import { hasChosenOther } from './add.ts'
import { readMeant, removeValues, setValues } from './data.sql.ts'
import { InvalidNode, NodeCycle } from './errors.ts'
import { type Branch, type NodeId, type NodeType, type RunIf, toCondition } from './node.ts'
import { findBelow, lockTree, readNodes, updateNode } from './nodes.sql.ts'
import { type ReadNode, readNode } from './read.ts'
import { type Spec, specKeys, toSpec } from './spec.ts'
import { unstorable } from './storable.ts'
import { findAndLock, findNode, keepIncipient, type NodeRow, type Tree, tell } from './tree.ts'

export type NodeChange = {
  readonly type?: NodeType | undefined
  /** An id, or `root`. */
  readonly parent?: string | undefined
  readonly runIf?: RunIf | undefined
  readonly branch?: Branch | undefined
  /** Null removes a key. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Edits or moves a node that has not started. It starts with either its old or its new form: nobody claims it meanwhile.
 * Throws `NodeStateRefused`, `NodeCycle`, `InvalidNode`, or `VersionChanged` when `version` is not the node's.
 */
export async function changeNode(tree: Tree, id: NodeId, change: NodeChange, version?: string): Promise<ReadNode> {
  await lockTree(tree.tx, {})
  const row = await findAndLock(tree.tx, id, version)
  await keepIncipient(tree, row, 'changed')
  const { data: stored } = await readMeant(tree.tx, { node: id, keys: specKeys })
  const place = {
    ...(row.run_if === null ? {} : { run_if: row.run_if }),
    ...(row.branch === null ? {} : { branch: row.branch }),
  }
  const given = withPlace(change)
  const wanted = { ...(stored as Record<string, unknown> | null), ...place, ...given }
  const type = change.type ?? (row.type as NodeType)
  const spec = check(type, wanted, given)

  const parent = change.parent === undefined ? undefined : await findParent(tree, id, change.parent)
  await updateNode(tree.tx, {
    id,
    type,
    parent: parent === undefined ? row.parent : (parent?.id ?? null),
    run_if: spec.run_if ?? null,
    branch: spec.branch ?? null,
  })
  await writeData(tree, id, given)
  const isMoved = parent !== undefined && (parent?.id ?? null) !== row.parent
  const isRewired = isMoved || (spec.run_if ?? null) !== row.run_if
  if (isRewired || (spec.branch ?? null) !== row.branch) await rewire(tree, row, spec, { isRewired, parent })
  await tell(tree, isMoved ? 'node.moved' : 'node.changed', { node: id, parent: parent?.id ?? undefined }, row.task)
  return readNode(tree.tx, id)
}

/** What is given as metadata and means the same as a key of the data. */
function withPlace({ data = {}, runIf, branch }: NodeChange): Record<string, unknown> {
  return {
    ...data,
    ...(runIf === undefined ? {} : { run_if: runIf }),
    ...(branch === undefined ? {} : { branch }),
  }
}

function check(type: NodeType, wanted: Readonly<Record<string, unknown>>, given: Record<string, unknown>): Spec {
  const there = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null))
  const spec = toSpec(type, there, '/data')
  const flaws = [...unstorable(given, '/data'), ...(Array.isArray(spec) ? spec : [])]
  if (flaws.length > 0 || Array.isArray(spec)) throw new InvalidNode(flaws)
  return spec
}

/** The new parent; null for root. */
async function findParent(tree: Tree, id: NodeId, parent: string): Promise<NodeRow | null> {
  if (parent === 'root') return null
  const [row] = await readNodes(tree.tx, { ids: [parent] })
  if (row === undefined) {
    throw new InvalidNode([{ pointer: '/metadata/parent', message: `node ${parent} does not exist` }])
  }
  if ((await findBelow(tree.tx, { ids: [parent], above: id })).length > 0) throw new NodeCycle(id, parent)
  return row
}

async function writeData(tree: Tree, node: NodeId, given: Readonly<Record<string, unknown>>): Promise<void> {
  const entries = Object.entries(given).filter(([key]) => key !== 'run_if' && key !== 'branch')
  const removed = entries.flatMap(([key, value]) => (value === null ? [key] : []))
  const set = entries.filter(([, value]) => value !== null)
  if (removed.length > 0) await removeValues(tree.tx, { node, keys: removed })
  if (set.length === 0) return
  await setValues(tree.tx, {
    node,
    keys: set.map(([key]) => key),
    values: set.map(([, value]) => JSON.stringify(value)),
  })
}

type Wiring = { readonly isRewired: boolean; readonly parent: NodeRow | null | undefined }

async function rewire(tree: Tree, row: NodeRow, spec: Spec, { isRewired, parent: moved }: Wiring): Promise<void> {
  const parent = moved === undefined ? (row.parent === null ? null : await findNode(tree.tx, row.parent)) : moved
  const record = { client: tree.tx, actor: tree.actor }
  if (isRewired) {
    const requires = parent === null ? [] : [{ task: parent.task, when: toCondition(spec.run_if ?? null) }]
    await tree.millrace.rewire(row.task, requires, { ...record, cause: 'the node was changed' })
  }
  if (parent === null || !hasChosenOther(parent, spec.branch ?? null)) return
  await tree.millrace.skip(row.task, { ...record, cause: 'the if has chosen the other branch', ignoreEnded: true })
}
