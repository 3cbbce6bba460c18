import type { Db } from '../db/index.ts'
import { type Metadata, type NodeId, type NodeState, type NodeType, toMetadata } from './node.ts'
import { listNodes as listAll, listChildren, listTop, listUnfinished } from './nodes.sql.ts'

export type ListOptions = {
  readonly types?: readonly NodeType[] | undefined
  readonly states?: readonly NodeState[] | undefined
  /** Only children of this node; null: of the root. */
  readonly parent?: NodeId | null | undefined
  /** Only nodes newer than this one. */
  readonly after?: NodeId | undefined
  readonly limit: number
}

export type NodePage = { readonly nodes: readonly Metadata[]; readonly hasMore: boolean }

const LAST_ID = 2n ** 63n - 1n
const ALIVE: ReadonlySet<NodeState> = new Set(['incipient', 'running', 'killing'])

/** Nodes in the order in which they were added. */
export async function listNodes(db: Db, options: ListOptions): Promise<NodePage> {
  const { types = null, states = null, parent, limit } = options
  // Whatever lies beyond what an id can be is newer than all.
  const after = BigInt(options.after ?? 0) > LAST_ID ? String(LAST_ID) : (options.after ?? '0')
  const asked = { types, states, after, limit: limit + 1 }
  const rows = await (parent === null
    ? listTop(db, asked)
    : parent !== undefined
      ? listChildren(db, { ...asked, parent })
      : states?.every((state) => ALIVE.has(state))
        ? listUnfinished(db, asked)
        : listAll(db, asked))
  return { nodes: rows.slice(0, limit).map(toMetadata), hasMore: rows.length > limit }
}
