import type { Db } from '../db/index.ts'
import { LAST_ID, type Metadata, type NodeId, type NodeState, type NodeType, possible, toMetadata } from './node.ts'
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

const ALIVE: ReadonlySet<NodeState> = new Set(['incipient', 'running', 'killing'])

/** Nodes in the order in which they were added. */
export async function listNodes(db: Db, options: ListOptions): Promise<NodePage> {
  const { types = null, states = null, parent, limit } = options
  const [after = LAST_ID] = possible([options.after ?? '0'])
  if (parent != null && possible([parent]).length === 0) return { nodes: [], hasMore: false }
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
