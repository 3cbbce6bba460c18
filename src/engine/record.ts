// Recording an outcome together with what the worker's callbacks write: one transaction, begun by proving the lease.
// A transaction that finds the lease gone throws LeaseLost and leaves nothing behind.
import { type Client, type Db, LONG_MS, MANY_MS, type Pool, patient, savepoint, transaction } from '../db/index.ts'
import { add, toEdges, toTaskId } from './add.ts'
import type { AddItem } from './add-options.ts'
import { LeaseLost, translated } from './errors.ts'
import type { Names } from './names.ts'
import { publish } from './outbox.ts'
import { toOutput } from './output.ts'
import type { Run } from './run.ts'
import { failTasks, finishTask, holdLease, lockToFinish, readRunning, requeueTasks, requireTasks } from './tasks.sql.ts'
import { backoffSeconds, describeError, keepable, messageOf, WorkError } from './work-error.ts'
import type { Later, Requirement, Tx } from './worker.ts'

/** What recording needs to know of the dispatcher. */
export type Recorder = {
  readonly pool: Pool
  readonly names: Names
  /** A run that lost its lease may get it back, while no other attempt has begun. */
  readonly mayResume?: () => boolean
}

/** Records a success with what `onSuccess` writes. */
export async function recordSuccess(at: Recorder, run: Run, result: unknown, isUnchanged: boolean): Promise<void> {
  const output = toOutput(result)
  await underLease(at, run, async (client) => {
    await run.worker.onSuccess?.(toTx(at, client, run), run.task, result)
    // Someone who adds a dependent just now holds a lock that finishing must wait for.
    await lockToFinish(client, { id: run.id })
    const { accepted } = await finishTask(client, {
      holder: run.holder,
      ids: [run.id],
      epochs: [run.epoch],
      outputs: [output],
      unchanged: isUnchanged ? [run.id] : [],
    })
    if (accepted.length === 0) throw new LeaseLost({ task: run.id, holder: run.holder, epoch: run.epoch })
  })
}

/** Records that the worker asked for "later", with its new requirements and what `onReschedule` writes. */
export async function recordLater(at: Recorder, run: Run, later: Later): Promise<void> {
  await underLease(at, run, async (client) => {
    const tx = toTx(at, client, run)
    if (later.requires !== undefined && later.requires.length > 0) await tx.require(run.id, later.requires)
    await run.worker.onReschedule?.(tx, run.task)
    await lockToFinish(client, { id: run.id })
    await requeueTasks(client, {
      holder: run.holder,
      ids: [run.id],
      epochs: [run.epoch],
      outcome: 'later',
      delays: [later.delaySeconds ?? null],
      errors: null,
    })
  })
}

/** Records an error with what `onFailure` writes: a retry, a failure, or a success with the error on record. */
export async function recordError(at: Recorder, run: Run, error: WorkError): Promise<void> {
  await underLease(at, run, async (client) => {
    const record = describeError(error)
    try {
      await savepoint(client, () => callOnFailure(at, client, run, error))
    } catch (thrown) {
      // The outcome stands without the callback's writes, which the savepoint has undone.
      record['onFailure'] = keepable(messageOf(thrown))
    }
    await lockToFinish(client, { id: run.id })
    const one = { holder: run.holder, ids: [run.id], epochs: [run.epoch], errors: [JSON.stringify(record)] }
    if (error.category === 'transient') {
      const delays = [backoffSeconds(run.worker, error, run.failures)]
      await requeueTasks(client, { ...one, outcome: 'retry', delays })
    } else {
      await failTasks(client, { ...one, state: error.category === 'advisory' ? 'succeeded' : 'failed' })
    }
  })
}

async function callOnFailure(at: Recorder, client: Client, run: Run, error: WorkError): Promise<void> {
  if (run.worker.onFailure === undefined) return
  const { category } = error
  const { attempt, is_exhausting: isExhausting } = await readRunning(client, { id: run.id })
  const failure = { attempt, category, isLast: category !== 'transient' || isExhausting }
  await run.worker.onFailure(toTx(at, client, run), run.task, error, failure)
}

/** Gives the task back as it was: its work ended because the dispatcher told it to, not because of a fault. */
export async function recordHandedBack(at: Recorder, run: Run): Promise<void> {
  await underLease(at, run, async (client) => {
    await lockToFinish(client, { id: run.id })
    await requeueTasks(client, {
      holder: run.holder,
      ids: [run.id],
      epochs: [run.epoch],
      outcome: 'handed_back',
      delays: null,
      errors: null,
    })
  })
}

/** Records that a task which was asked to stop has stopped, with the facts that its worker gave of the end. */
export async function recordCanceled(at: Recorder, run: Run, thrown?: unknown): Promise<void> {
  const error = thrown instanceof WorkError && thrown.data !== undefined ? JSON.stringify(describeError(thrown)) : null
  await transaction(at.pool, async (client) => {
    await lockToFinish(client, { id: run.id })
    await failTasks(client, {
      holder: run.holder,
      ids: [run.id],
      epochs: [run.epoch],
      state: 'canceled',
      errors: [error],
    })
  })
}

/** Was asked to stop before its outcome could be recorded: it ends as canceled, and the outcome is void. */
export class CanceledMeanwhile extends Error {}

async function underLease(at: Recorder, run: Run, body: (client: Client) => Promise<void>): Promise<void> {
  const work = async (client: Client) => {
    const lease = await holdLease(client, { id: run.id, holder: run.holder, epoch: run.epoch })
    if (lease === undefined) throw new LeaseLost({ task: run.id, holder: run.holder, epoch: run.epoch })
    if (lease.is_canceling) throw new CanceledMeanwhile()
    await body(client)
  }
  // Callbacks have statements of any length; the engine's own find out sooner that a connection is silent.
  await transaction(at.pool, work, { statementMs: LONG_MS, answerMs: MANY_MS })
}

function toTx(at: Recorder, client: Client, run: Run): Tx {
  const context = { creator: run.id }
  const db = patient(client)
  return {
    query: (text, values) => db.query({ text, ...(values === undefined ? {} : { values }) }) as ReturnType<Tx['query']>,
    add: async (worker, payload, options = {}) => {
      const [added] = await add(db, at.names, [{ ...options, worker, payload }], {
        ...context,
        ...actorOf(options),
      })
      return added as NonNullable<typeof added>
    },
    addMany: (items) => add(db, at.names, items as readonly AddItem[], context) as Promise<never>,
    require: (task, requires) => require(db, task, requires, { holder: run.holder, epoch: run.epoch }),
    publish: (event) => publish(db, event),
  }
}

const actorOf = (options: { actor?: string }) => (options.actor === undefined ? {} : { actor: options.actor })

/**
 * Adds requirements to an existing task. `lease` proves that the caller is the task's own attempt, the only one that
 * may give requirements to a running task.
 */
export async function require(
  db: Db,
  task: string,
  requires: readonly Requirement[],
  lease?: { holder: number; epoch: number },
): Promise<void> {
  if (requires.length === 0) return
  await translated(() =>
    requireTasks(db, {
      dependent: toTaskId(task),
      ...toEdges(requires),
      holder: lease?.holder ?? null,
      epoch: lease?.epoch ?? null,
    }),
  )
}
