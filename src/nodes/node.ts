// What a node is. Its engine task is an internal matter: the state is derived from it in migrations/functions/node_now.sql.
import type { Condition } from '../engine/index.ts'

export type NodeId = string

export const nodeTypes = ['command', 'shell command', 'condition', 'if', 'sleep'] as const
export type NodeType = (typeof nodeTypes)[number]

export type NodeState = 'incipient' | 'running' | 'killing' | 'finished' | 'failed' | 'killed' | 'skipped'

/** What of the parent a node waits for. */
export type RunIf = 'success' | 'failure' | 'always'
/** With which outcome of its parent, an `if`, a node runs. */
export type Branch = 'then' | 'else'

export type Metadata = {
  readonly id: NodeId
  readonly type: NodeType
  /** Null: root. */
  readonly parent: NodeId | null
  readonly state: NodeState
  readonly runIf: RunIf
  readonly branch: Branch | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly task: string
}

/** The scope of the tasks of all nodes; the key is the node's id. */
export const SCOPE = 'node'
export const KIND = 'node'

/** The limit that the commands of nodes share. */
export const LIMIT = 'nodes'
/** Commands of nodes that run at once, unless a setting says otherwise. */
export const COMMANDS_AT_ONCE = 32

const ENDED: ReadonlySet<NodeState> = new Set(['finished', 'failed', 'killed', 'skipped'])
export const isEnded = (state: NodeState): boolean => ENDED.has(state)

const conditions = {
  success: 'succeeded',
  failure: 'failed',
  always: 'finished',
} as const satisfies Record<RunIf, Condition>

/** What the engine must wait for. */
export const toCondition = (runIf: RunIf | null): Condition => conditions[runIf ?? 'success']

type MetadataRow = {
  readonly id: string
  readonly type: string
  readonly parent: string | null
  readonly state: string
  readonly run_if: string | null
  readonly branch: string | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly task: string
}

export function toMetadata(row: MetadataRow): Metadata {
  return {
    id: row.id,
    type: row.type as NodeType,
    parent: row.parent,
    state: row.state as NodeState,
    runIf: (row.run_if as RunIf | null) ?? 'success',
    branch: row.branch as Branch | null,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    task: row.task,
  }
}
