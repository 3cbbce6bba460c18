import type { Db, Pool } from '../db/index.ts'
import { type AddedNode, addNodes, type NewNode } from './add.ts'
import { changeNode, type NodeChange } from './change.ts'
import { type Description, describeNodes } from './describe.ts'
import { killNodes, type StateOfNode } from './kill.ts'
import { type Line, type ListOptions, listLine, listNodes, type NodePage } from './list.ts'
import type { Metadata, NodeId, NodeState } from './node.ts'
import { type Reach, requireReach } from './reach.ts'
import { type ReadNode, readNode } from './read.ts'
import { type RemoveOptions, removeNode } from './remove.ts'
import type { Tree } from './tree.ts'
import { isAttemptUnderWay } from './under-way.ts'
import {
  type Keys,
  type KeysOptions,
  listKeys,
  type Pagination,
  type Piece,
  type PieceOptions,
  readValue,
} from './value.ts'
import { type Patience, type Waited, waitForNew, waitForNodes } from './wait.ts'
import { NodeWatch } from './watch.ts'
import { type Write, writeValue } from './write.ts'

/** In whose transaction, and for whom, something is changed. */
export type By = { readonly tx: Db; readonly actor: string }

/** The verbs of the tree, with what they need; the server gets them so. */
export type Nodes = {
  list(options: ListOptions): Promise<NodePage>
  line(line: Line): Promise<Metadata[]>
  describe(nodes: readonly Metadata[]): Promise<ReadonlyMap<NodeId, Description>>
  read(id: NodeId): Promise<ReadNode>
  keys(id: NodeId, options: KeysOptions): Promise<Keys>
  value(id: NodeId, key: string, options: PieceOptions): Promise<Piece>
  waitForNew(options: ListOptions, patience: Patience): Promise<NodePage>
  waitFor(
    which: { readonly ids: readonly NodeId[]; readonly state?: NodeState | undefined },
    patience: Patience,
  ): Promise<Waited>
  requireReach(limit: NodeId, ids: readonly NodeId[], reach: Reach): Promise<void>
  isAttemptUnderWay(node: NodeId, attempt: string): Promise<boolean>
  add(by: By, items: readonly NewNode[]): Promise<AddedNode[]>
  change(by: By, id: NodeId, change: NodeChange, version?: string): Promise<ReadNode>
  remove(by: By, id: NodeId, options: RemoveOptions): Promise<number>
  write(by: By, id: NodeId, write: Write): Promise<Pagination>
  kill(by: By, ids: readonly NodeId[]): Promise<StateOfNode[]>
  close(): void
}

export type NodesOptions = Pick<Tree, 'millrace' | 'commandsAtOnce'> & { readonly pool: Pool }

export function createNodes({ pool, millrace, commandsAtOnce }: NodesOptions): Nodes {
  const watch = new NodeWatch(millrace)
  return {
    list: (options) => listNodes(pool, options),
    line: (line) => listLine(pool, line),
    describe: (nodes) => describeNodes(pool, nodes),
    read: (id) => readNode(pool, id),
    keys: (id, options) => listKeys(pool, id, options),
    value: (id, key, options) => readValue(pool, id, key, options),
    waitForNew: (options, patience) => waitForNew(pool, watch, options, patience),
    waitFor: (which, patience) => waitForNodes(pool, watch, which, patience),
    requireReach: (limit, ids, reach) => requireReach(pool, limit, ids, reach),
    isAttemptUnderWay: (node, attempt) => isAttemptUnderWay(pool, node, attempt),
    add: (by, items) => addNodes({ ...by, millrace, commandsAtOnce }, items),
    change: (by, id, change, version) => changeNode({ ...by, millrace }, id, change, version),
    remove: (by, id, options) => removeNode({ ...by, millrace }, id, options),
    write: (by, id, write) => writeValue({ ...by, millrace }, id, write),
    kill: (by, ids) => killNodes({ ...by, millrace }, ids),
    close: () => watch.close(),
  }
}
