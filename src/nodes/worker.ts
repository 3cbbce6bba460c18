import { z } from 'zod'
import type { Db } from '../db/index.ts'
import {
  type AnyWorker,
  defineWorker,
  type Later,
  type Millrace,
  TransientError,
  type Tx,
  type WorkContext,
} from '../engine/index.ts'
import { markerOf } from '../runners/index.ts'
import { Beginnings, type Begun } from './begin.ts'
import { refuseLost } from './failure.ts'
import { KIND } from './node.ts'
import { findUnchosen, lockTree } from './nodes.sql.ts'
import { performNode, type Success } from './perform.ts'
import type { Attempt, Workshop } from './run-command.ts'

export type NodeWorkers = {
  readonly workers: readonly AnyWorker[]
  /** Resolves when nothing is being performed any more, also what the dispatcher has given up. */
  settled(): Promise<void>
}

/** The workers that perform nodes, for a dispatcher. */
export function createNodeWorkers(at: Workshop & { readonly millrace: Millrace }): NodeWorkers {
  const beginnings = new Beginnings(at.pool)
  const underWay = new Set<Promise<unknown>>()
  const worker = defineWorker({
    kind: KIND,
    payload: z.null().optional(),
    // What has begun is never silently done again; what could not be begun says so itself.
    classify: (error) => (error instanceof Error && 'category' in error ? undefined : 'permanent'),
    work(context): Promise<Success | Later> {
      const performance = perform(at, beginnings, context)
      underWay.add(performance)
      const forget = () => underWay.delete(performance)
      performance.then(forget, forget)
      return performance
    },
    isPlain: ({ branch }) => branch === undefined,
    onSuccess: (tx, task, { branch }) => choose(at.millrace, tx, task.key as string, branch ?? 'then'),
  })
  return {
    workers: [worker],
    async settled() {
      await Promise.allSettled(underWay)
    },
  }
}

async function perform(
  at: Workshop,
  beginnings: Beginnings,
  { task, signal }: WorkContext<null | undefined>,
): Promise<Success | Later> {
  const work = await beginnings.begin(task.id, task.epoch)
  // Nothing has run. When the lease was lost, it may be resumed, and then the next attempt begins.
  if (work === undefined) throw new TransientError('the attempt is not under way')
  const attempt: Attempt = { task: task.id, epoch: task.epoch, signal }
  if (work.lost !== undefined) await settleLost(at, attempt, work)
  return performNode(at, attempt, work)
}

/** What a lost attempt left on this host is ended. A container goes on by itself: running the command takes it up. */
async function settleLost(at: Workshop, { task }: Attempt, work: Begun): Promise<void> {
  if (work.spec.image !== undefined) return
  await at.runner.sweep({ prefix: markerOf(at.markerPrefix, task, 0).slice(0, -1) })
  refuseLost(work)
}

/** The children that an `if` does not choose are skipped with its success. */
async function choose(millrace: Millrace, tx: Tx, node: string, chosen: 'then' | 'else'): Promise<void> {
  const client: Db = { query: ({ text, values }) => tx.query(text, values) }
  await lockTree(client, {})
  const unchosen = await findUnchosen(client, { parent: node, chosen })
  const cause = 'the if has chosen the other branch'
  if (unchosen.length === 0) return
  await millrace.skip(
    unchosen.map((row) => row.task),
    { client, cause, ignoreEnded: true },
  )
}
