import type { Db } from '../db/index.ts'
import { type Millrace, publish } from '../engine/index.ts'
import { NodeNotFound, NodeStateRefused, VersionChanged } from './errors.ts'
import { isEnded, type Metadata, type NodeId, SCOPE, toMetadata } from './node.ts'
import { lockNode, readNodes } from './nodes.sql.ts'

/** What the verbs that change the tree work with. */
export type Tree = {
  readonly millrace: Millrace
  /** Commands of nodes that run at once. Default: 32. */
  readonly commandsAtOnce?: number | undefined
  /** A transaction of the caller's: what a verb does stands when it commits. */
  readonly tx: Db
  /** Who asks, for the record. */
  readonly actor: string
}

export type NodeRow = Awaited<ReturnType<typeof readNodes>>[number]

/** The rows of the nodes, in the order of the ids. Throws `NodeNotFound`, naming all that are missing. */
export async function findNodes(db: Db, ids: readonly NodeId[]): Promise<NodeRow[]> {
  const found = new Map((await readNodes(db, { ids })).map((row) => [row.id, row]))
  const missing = ids.filter((id) => !found.has(id))
  if (missing.length > 0) throw new NodeNotFound(missing)
  return ids.map((id) => found.get(id) as NodeRow)
}

export async function findNode(db: Db, id: NodeId): Promise<NodeRow> {
  const [row] = await findNodes(db, [id])
  return row as NodeRow
}

/** Says what is seen of the node: its data, how often it began, and its state. */
export const versionOf = ({ version, begun_epoch: epoch, state }: NodeRow): string =>
  `${version}.${epoch ?? 0}.${state}`

/** The row, which nobody else changes until the transaction ends. */
export async function findAndLock(db: Db, id: NodeId, version?: string): Promise<NodeRow> {
  await lockNode(db, { id })
  const row = await findNode(db, id)
  if (version !== undefined && version !== versionOf(row)) throw new VersionChanged(`node ${id}`, version)
  return row
}

/**
 * Keeps a node that has not started from starting until the transaction ends. Throws `NodeStateRefused` for any other;
 * `participle` is what it cannot be.
 */
export async function keepIncipient(tree: Tree, row: NodeRow, participle: string): Promise<Metadata> {
  const { state } = toMetadata(row)
  if (state !== 'incipient') throw new NodeStateRefused(row.id, state, participle)
  const kept = await tree.millrace.keepFromStarting([row.task], { client: tree.tx })
  if (kept.length > 0) return toMetadata(row)
  // It started, or ended, just before it was locked.
  const now = toMetadata(await findNode(tree.tx, row.id))
  throw new NodeStateRefused(row.id, isEnded(now.state) ? now.state : 'running', participle)
}

/** Tells subscribers what was done to the tree, beside what the engine tells of the tasks. */
export function tell(tree: Tree, name: string, detail: object, task?: string): Promise<void> {
  const about = task === undefined ? {} : { task }
  return publish(tree.tx, { name, scope: SCOPE, actor: tree.actor, detail, ...about })
}
