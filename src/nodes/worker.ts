import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { type AnyWorker, defineWorker, type Later, type Millrace, type Tx, type WorkContext } from '../engine/index.ts'
import { markerOf } from '../runners/index.ts'
import { patiently } from '../storage/index.ts'
import { Beginnings, type Begun } from './begin.ts'
import { refuseLost } from './failure.ts'
import { KIND } from './node.ts'
import { findUnchosen, lockTree } from './nodes.sql.ts'
import { performNode, type Success } from './perform.ts'
import type { Attempt, Workshop } from './run-command.ts'

const ASK_AGAIN_MS = 250

type Performing = Workshop & { readonly millrace: Millrace }

export type NodeWorkers = {
  readonly workers: readonly AnyWorker[]
  /** Resolves when nothing is being performed any more, also what the dispatcher has given up. */
  settled(): Promise<void>
}

/** The workers that perform nodes, for a dispatcher. */
export function createNodeWorkers(at: Performing): NodeWorkers {
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

type Context = WorkContext<null | undefined>

async function perform(at: Performing, beginnings: Beginnings, context: Context): Promise<Success | Later> {
  const { task, signal } = context
  const work = await begin(at, beginnings, context)
  const attempt: Attempt = { task: task.id, epoch: task.epoch, signal }
  if (work.lost !== undefined) await settleLost(at, attempt, work)
  return performNode(at, attempt, work)
}

/** Asks until there is an answer: nothing has run, and an outage must not fail the node. A lost lease may be resumed. */
async function begin(at: Performing, beginnings: Beginnings, { task, signal }: Context): Promise<Begun> {
  for (let wasHeld = false; ; ) {
    const work = await patiently(signal, () => beginnings.begin(task.id, task.epoch))
    if (work !== undefined) return work
    signal.throwIfAborted()
    const lease = await patiently(signal, () => at.millrace.leaseOf(task.id, task.epoch))
    if (lease === 'gone') throw new Error('another attempt has this node')
    // It may have been resumed between the two questions.
    if (lease === 'held' && wasHeld) throw new Error('the attempt was asked to stop')
    wasHeld = lease === 'held'
    if (lease === 'lost') await sleep(ASK_AGAIN_MS, undefined, { signal })
  }
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
