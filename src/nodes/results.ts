// What came of a node, as data that the server writes. Derived from the outcome of its task: a success keeps it as the
// output, a failure as the facts of its error.
import type { Metadata, NodeType } from './node.ts'
import type { NodeRow } from './tree.ts'

/** What a performance leaves behind beside its output. */
export type Results = {
  /** The exit code; null when there is none. */
  readonly result?: number | null
  /** The signal that ended it. */
  readonly signal?: string
  /** Why there is no exit code, or why it did not run. */
  readonly error?: string
}

export const streams = { stdout: 'stdout', stderr: 'stderr', mixedout: 'mixed' } as const
export type StreamKey = keyof typeof streams
export const isStreamKey = (key: string): key is StreamKey => Object.hasOwn(streams, key)

/** What a failure keeps: also whose output is the node's, when it is that of an earlier attempt. */
export type Failure = Results & { readonly attempt?: number }

/** The attempt whose output is the node's. */
export function attemptOf(row: NodeRow): number {
  const { attempt } = ((row.error as { data?: Failure } | null)?.data ?? {}) as Failure
  return attempt ?? (row.begun_epoch as number)
}

/** Whether the node has, or may get, an output. */
export function hasOutput(row: NodeRow): boolean {
  return row.begun_epoch !== null && row.state !== 'incipient' && (row.type as NodeType) !== 'sleep'
}

export function resultsOf(row: NodeRow, { state, runIf, parent }: Metadata): Results {
  switch (state) {
    case 'incipient':
    case 'running':
    case 'killing':
      return {}
    case 'finished': {
      const { result = null } = (row.output ?? {}) as Results
      return { result }
    }
    case 'failed': {
      const { data, message } = (row.error ?? {}) as { data?: Failure; message?: string }
      if (data === undefined) return { result: null, error: message ?? row.cause ?? 'the reason is not known' }
      const { attempt: _, ...results } = data
      return results
    }
    case 'killed': {
      const { signal } = ((row.error as { data?: Failure } | null)?.data ?? {}) as Failure
      return { result: null, error: row.cause ?? 'killed', ...(signal === undefined ? {} : { signal }) }
    }
    case 'skipped': {
      const waited = `it waits for the ${runIf === 'always' ? 'end' : runIf} of node ${parent}, which did not come`
      const isOfParent = row.cause === null || row.cause === 'a requirement can no longer be met'
      return { result: null, error: `skipped: ${isOfParent ? waited : row.cause}` }
    }
  }
}
