import { isEnded, type NodeId, type NodeState, toMetadata } from './node.ts'
import { findNodes, type Tree } from './tree.ts'

export type StateOfNode = { readonly id: NodeId; readonly state: NodeState }

/**
 * Kills nodes: what has not started is killed at once, what runs is stopped and is killed once it is gone, what has ended
 * stays as it is. Answers the state of each. Throws `NodeNotFound` when one is missing, and then none is killed.
 */
export async function killNodes(tree: Tree, ids: readonly NodeId[]): Promise<StateOfNode[]> {
  const rows = await findNodes(tree.tx, ids)
  const tasks = rows.filter((row) => !isEnded(row.state as NodeState)).map((row) => row.task)
  const record = { client: tree.tx, actor: tree.actor, cause: `killed by ${tree.actor}`, ignoreEnded: true }
  if (tasks.length > 0) await tree.millrace.cancel(tasks, record)
  return (await findNodes(tree.tx, ids)).map(toMetadata).map(({ id, state }) => ({ id, state }))
}
