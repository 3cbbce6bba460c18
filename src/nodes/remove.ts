import { NodeHasChildren, NodeNotFound, NodesRunning } from './errors.ts'
import type { NodeId } from './node.ts'
import { deleteNodes, lockTree, readSubtree } from './nodes.sql.ts'
import { findAndLock, type Tree, tell } from './tree.ts'

export type RemoveOptions = {
  /** With all that is below it. Without, a node that has children is refused. */
  readonly isChain: boolean
  readonly version?: string | undefined
}

/**
 * Removes a node that does not run, with its data, and answers how many are gone. Tasks that have not started are
 * canceled; of what has run, the task and its output stay in the engine's history.
 */
export async function removeNode(tree: Tree, id: NodeId, options: RemoveOptions): Promise<number> {
  await lockTree(tree.tx, {})
  const { task } = await findAndLock(tree.tx, id, options.version)
  const before = await readSubtree(tree.tx, { id })
  if (before.length > 1 && !options.isChain) throw new NodeHasChildren(id, before.length - 1)
  // First what can start is kept from it, then it is looked at what runs: in this order none slips through.
  await tree.millrace.keepFromStarting(
    before.map((row) => row.task),
    { client: tree.tx },
  )
  const rows = await readSubtree(tree.tx, { id })
  if (rows.length === 0) throw new NodeNotFound([id])
  const running = rows.filter(({ state }) => state === 'running' || state === 'killing')
  if (running.length > 0) {
    throw new NodesRunning(
      id,
      running.map((row) => row.id),
    )
  }
  const unstarted = rows.flatMap((row) => (row.state === 'incipient' ? [row.task] : []))
  const record = { client: tree.tx, actor: tree.actor, cause: 'the node was removed' }
  if (unstarted.length > 0) await tree.millrace.cancel(unstarted, record)
  await deleteNodes(tree.tx, { ids: rows.map((row) => row.id) })
  await tell(tree, 'node.removed', { node: id, count: rows.length }, task)
  return rows.length
}
