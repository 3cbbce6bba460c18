// Waiting for nodes. What is waited for is read from the tables, so that nothing is lost with a connection or a server;
// events only say when to look again, and which nodes.
import type { Db } from '../db/index.ts'
import { NodeNotFound } from './errors.ts'
import type { StateOfNode } from './kill.ts'
import { type ListOptions, listNodes, type NodePage } from './list.ts'
import { isEnded, type NodeId, type NodeState } from './node.ts'
import { readNodes } from './nodes.sql.ts'
import { findNodes, type NodeRow } from './tree.ts'
import { Gathering, type NodeWatch } from './watch.ts'

export type Patience = {
  /** How long at most. */
  readonly ms: number
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal
}

// Events are not lost; should they be late for whatever reason, a look now and then finds what there is.
const LOOK_MS = 30_000

/** Nodes newer than `after`, as soon as there are any that fit; an empty page when the time is over. */
export async function waitForNew(
  db: Db,
  watch: NodeWatch,
  options: ListOptions,
  { ms, signal }: Patience,
): Promise<NodePage> {
  const first = await listNodes(db, options)
  if (first.nodes.length > 0) return first
  const until = performance.now() + ms
  const gathering = new Gathering()
  const leave = await watch.join(gathering.hear)
  try {
    for (;;) {
      const page = await listNodes(db, options)
      if (page.nodes.length > 0) return page
      for (;;) {
        const leftMs = until - performance.now()
        if (leftMs <= 0 || signal.aborted) return page
        const { isAdded, isReset, nodes } = await gathering.next(Math.min(leftMs, LOOK_MS), signal)
        // A node that is there already may come to fit when its state is asked for.
        if (isAdded || isReset || nodes.size === 0 || options.states !== undefined) break
      }
    }
  } finally {
    leave()
  }
}

export type Waited = { readonly nodes: readonly StateOfNode[]; readonly isOver: boolean }

/**
 * Waits until every node has ended or, with `state`, has been in that state or has ended without. Answers the state of
 * each, and whether that came true before the time was over. Throws `NodeNotFound`.
 */
export async function waitForNodes(
  db: Db,
  watch: NodeWatch,
  { ids, state }: { readonly ids: readonly NodeId[]; readonly state?: NodeState | undefined },
  { ms, signal }: Patience,
): Promise<Waited> {
  const until = performance.now() + ms
  const first = await findNodes(db, ids)
  if (first.every((row) => hasBeen(row, state))) return { nodes: first.map(toState), isOver: true }
  // What has ended may be removed, or asked for again, before the others end: it counts as it was seen.
  const seen = new Map(first.map((row) => [row.id, toState(row)]))
  const open = new Set(first.flatMap((row) => (hasBeen(row, state) ? [] : [row.id])))
  const gathering = new Gathering()
  const leave = await watch.join(gathering.hear)
  try {
    let touched: readonly NodeId[] = [...open]
    for (;;) {
      const rows = await readNodes(db, { ids: touched })
      if (rows.length < touched.length) throw new NodeNotFound(missing(touched, rows))
      for (const row of rows) {
        seen.set(row.id, toState(row))
        if (hasBeen(row, state)) open.delete(row.id)
      }
      const leftMs = until - performance.now()
      if (open.size === 0 || leftMs <= 0 || signal.aborted) break
      touched = await nextTouched(gathering, open, { ms: Math.min(leftMs, LOOK_MS), signal })
    }
    const passed = [...seen.values()].flatMap(({ id, state: then }) => (isEnded(then) ? [] : [id]))
    for (const row of passed.length === 0 ? [] : await readNodes(db, { ids: passed })) seen.set(row.id, toState(row))
    return { nodes: ids.map((id) => seen.get(id) as StateOfNode), isOver: open.size === 0 }
  } finally {
    leave()
  }
}

/** Those that are waited for and to which something happened; all when that is not known. */
async function nextTouched(gathering: Gathering, open: ReadonlySet<NodeId>, patience: Patience): Promise<NodeId[]> {
  const until = performance.now() + patience.ms
  for (;;) {
    const { nodes, isReset } = await gathering.next(until - performance.now(), patience.signal)
    if (isReset || patience.signal.aborted || performance.now() >= until) return [...open]
    const touched = [...open].filter((id) => nodes.has(id))
    if (touched.length > 0) return touched
  }
}

function hasBeen(row: NodeRow, state: NodeState | undefined): boolean {
  if (isEnded(row.state as NodeState) || state === 'incipient') return true
  return (state === 'running' && row.started_at !== null) || (state === 'killing' && row.was_stopped)
}

const toState = ({ id, state }: NodeRow): StateOfNode => ({ id, state: state as NodeState })
const missing = (ids: readonly NodeId[], rows: readonly NodeRow[]) =>
  ids.filter((id) => !rows.some((row) => row.id === id))
