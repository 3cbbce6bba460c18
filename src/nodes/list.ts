import type { Db } from '../db/index.ts'
import { type Metadata, type NodeId, type NodeState, type NodeType, toMetadata } from './node.ts'
import { listNodes as listAll, listChildren, listTop, listUnfinished } from './nodes.sql.ts'
import {
  listDown,
  listNewest,
  listNewestChildren,
  listNewestTop,
  listNewestUnfinished,
  listUp,
} from './tree-view.sql.ts'

export type ListOptions = {
  readonly types?: readonly NodeType[] | undefined
  readonly states?: readonly NodeState[] | undefined
  /** Only children of this node; null: of the root. */
  readonly parent?: NodeId | null | undefined
  readonly order?: 'oldest' | 'newest' | undefined
  /** Only nodes newer than this one; in the other order, older. */
  readonly after?: NodeId | undefined
  readonly limit: number
}

export type NodePage = { readonly nodes: readonly Metadata[]; readonly hasMore: boolean }

const LAST_ID = 2n ** 63n - 1n
const ALIVE: ReadonlySet<NodeState> = new Set(['incipient', 'running', 'killing'])

const statements = {
  oldest: { all: listAll, top: listTop, children: listChildren, unfinished: listUnfinished },
  newest: {
    all: listNewest,
    top: listNewestTop,
    children: listNewestChildren,
    unfinished: listNewestUnfinished,
  },
} as const

/** Nodes in the order in which they were added, or the other way round. */
export async function listNodes(db: Db, options: ListOptions): Promise<NodePage> {
  const { types = null, states = null, parent, limit, order = 'oldest' } = options
  const begin = order === 'oldest' ? '0' : String(LAST_ID)
  // Whatever lies beyond what an id can be is newer than all.
  const after = BigInt(options.after ?? 0) > LAST_ID ? String(LAST_ID) : (options.after ?? begin)
  const asked = { types, states, after, limit: limit + 1 }
  const { all, top, children, unfinished } = statements[order]
  const isUnfinished = states?.every((state) => ALIVE.has(state)) ?? false
  const rows = await (parent === null
    ? top(db, asked)
    : parent !== undefined
      ? children(db, { ...asked, parent })
      : (isUnfinished ? unfinished : all)(db, asked))
  return { nodes: rows.slice(0, limit).map(toMetadata), hasMore: rows.length > limit }
}

export type Line = {
  readonly of: NodeId
  readonly towards: 'up' | 'down'
  readonly limit: number
}

/** A node with those above it, its parent first, or with those below, level by level: at most so many. */
export async function listLine(db: Db, { of, towards, limit }: Line): Promise<Metadata[]> {
  const rows = await (towards === 'up' ? listUp : listDown)(db, { of, limit })
  return rows.map(toMetadata)
}
