// What the routes of nodes have in common: how a node is shown, who reaches it, and where a flaw lies.
import type { Identity } from '../access/index.ts'
import type { BodyAnswered, routes } from '../api/index.ts'
import { InvalidNode, type Metadata, type Nodes, type Reach } from '../nodes/index.ts'
import { Problem } from './problems.ts'

type Node = BodyAnswered<typeof routes.nodes.get>

export function toMetadata(metadata: Metadata): Node['metadata'] {
  return {
    id: metadata.id,
    type: metadata.type,
    parent: metadata.parent ?? 'root',
    state: metadata.state,
    run_if: metadata.runIf,
    branch: metadata.branch,
    created_at: metadata.createdAt.toISOString(),
    started_at: metadata.startedAt?.toISOString() ?? null,
    finished_at: metadata.finishedAt?.toISOString() ?? null,
    task: metadata.task,
  }
}

export function toNode(read: Awaited<ReturnType<Nodes['read']>>): Node {
  const omitted = read.omitted.length === 0 ? {} : { omitted: [...read.omitted] }
  return { id: read.metadata.id, metadata: toMetadata(read.metadata), data: { ...read.data }, ...omitted }
}

/** Throws unless the caller's role opened the door, or the token is of a node that reaches all of these. */
export async function requireReach(
  nodes: Nodes,
  { limit }: Identity,
  ids: readonly string[],
  reach: Reach,
): Promise<void> {
  if (limit === null) return
  if (ids.includes('root') || ids.length === 0) {
    throw new Problem('forbidden', `the token of node ${limit.name} does not reach the root`, {
      remedy: `ask for what is below node ${limit.name}`,
    })
  }
  await nodes.requireReach(limit.name, [...new Set(ids)], reach)
}

/** Says of flaws where in the request they are. */
export async function pointingInto<T>(part: '/body' | '/query', body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (error) {
    if (!(error instanceof InvalidNode)) throw error
    const errors = error.errors.map(({ pointer, message }) => ({ pointer: part + pointer, message }))
    const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
    throw new Problem('invalid', `${errors[0]?.pointer}: ${errors[0]?.message}${rest}`, { errors })
  }
}

/** The pid, by either of its names. Throws when `start` comes without one. */
export function pidOf(query: {
  start?: string | undefined
  pid?: string | undefined
  pagid?: string | undefined
}): string | undefined {
  const pid = query.pid ?? query.pagid
  if (query.start !== undefined && query.start !== '' && pid === undefined) {
    const flaw = { pointer: '/query/pid', message: 'must be given with start' }
    throw new Problem('invalid', `${flaw.pointer}: ${flaw.message}`, { errors: [flaw] })
  }
  return pid
}
