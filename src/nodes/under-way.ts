import type { Db } from '../db/index.ts'
import type { NodeId } from './node.ts'
import { isUnderWay } from './nodes.sql.ts'

/** Whether the attempt of the node, to which a token was given, still runs. */
export async function isAttemptUnderWay(db: Db, node: NodeId, attempt: string): Promise<boolean> {
  return (await isUnderWay(db, { id: node, epoch: Number(attempt) })).is_so
}
