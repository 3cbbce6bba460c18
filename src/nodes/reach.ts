import type { Db } from '../db/index.ts'
import { OutOfReach } from './errors.ts'
import type { NodeId } from './node.ts'
import { findBelow, readNodes } from './nodes.sql.ts'

/** What a running node may be allowed to do with its token: see its parent as well, or only what is below. */
export type Reach = 'with parent' | 'itself and below' | 'below'

/**
 * Throws `OutOfReach` unless the node `limit`, whose token is used, reaches all the others. A node that does not exist is
 * out of reach as well: a token is told nothing of the rest of the tree.
 */
export async function requireReach(db: Db, limit: NodeId, ids: readonly NodeId[], reach: Reach): Promise<void> {
  const below = new Set((await findBelow(db, { ids, above: limit })).map((row) => row.id))
  if (reach === 'with parent' && ids.some((id) => !below.has(id))) {
    const [own] = await readNodes(db, { ids: [limit] })
    if (own?.parent != null) below.add(own.parent)
  }
  if (reach === 'below') below.delete(limit)
  const beyond = ids.find((id) => !below.has(id))
  if (beyond !== undefined) throw new OutOfReach(limit, beyond, reach)
}
