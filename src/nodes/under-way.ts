import type { Db } from '../db/index.ts'
import { type NodeId, possible } from './node.ts'
import { isUnderWay } from './nodes.sql.ts'

/** Whether the attempt of the node, to which a token was given, still runs. */
export async function isAttemptUnderWay(db: Db, node: NodeId, attempt: string): Promise<boolean> {
  const epoch = Number(attempt)
  if (possible([node]).length === 0 || !Number.isInteger(epoch) || epoch >= 2 ** 31) return false
  return (await isUnderWay(db, { id: node, epoch })).is_so
}
