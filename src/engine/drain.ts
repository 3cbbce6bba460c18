// For tests of programs that use the engine: performs tasks one after another, when told to, without timers and
// without a running dispatcher.
import { makeDue } from './drain.sql.ts'
import { ManualDispatcher, type ManualOptions, type Performed } from './manual-dispatcher.ts'
import { type Millrace, partsOf } from './millrace.ts'
import { Context, Run } from './run.ts'
import { parse } from './schema.ts'
import type { TaskId } from './task.ts'
import type { AnyWorker, PayloadInput } from './worker.ts'

export type PerformOptions = Pick<ManualOptions, 'queues' | 'onLog'> & {
  /** Perform delayed tasks as if their time had come. Default: false. */
  readonly includeDelayed?: boolean
}

/** Claims and performs the most urgent ready task of these workers. Undefined: none was ready. */
export async function performNext(
  millrace: Millrace,
  workers: readonly AnyWorker[],
  options: PerformOptions = {},
): Promise<Performed | undefined> {
  const { performed } = await drain(millrace, workers, { ...options, limit: 1 })
  return performed[0]
}

export type DrainOptions = PerformOptions & {
  /** Stop after this many performances. Without it, ten thousand are taken for a program that never ends. */
  readonly limit?: number
}

export type Drained = {
  /** Every performance, in order. */
  readonly performed: readonly Performed[]
  /** How many performances ended so. */
  readonly counts: Readonly<Record<Performed['outcome'], number>>
}

const ENDLESS = 10_000

/** Performs tasks of these workers one by one, also those that they add meanwhile, until none is ready. */
export async function drain(
  millrace: Millrace,
  workers: readonly AnyWorker[],
  options: DrainOptions = {},
): Promise<Drained> {
  const { limit, includeDelayed = false, ...rest } = options
  const dispatcher = await ManualDispatcher.register(millrace, workers, { ...rest, name: 'testing' })
  const performed: Performed[] = []
  try {
    while (performed.length < (limit ?? Number.POSITIVE_INFINITY)) {
      if (includeDelayed) await makeDue(partsOf(millrace).pool, { lanes: dispatcher.lanes })
      const [run] = await dispatcher.claim()
      if (run === undefined) break
      if (limit === undefined && performed.length === ENDLESS)
        throw new Error(`${ENDLESS} tasks were performed and more are ready: give a limit if that is meant`)
      performed.push(await dispatcher.perform(run))
    }
  } finally {
    await dispatcher.unregister()
  }
  return { performed, counts: countOutcomes(performed) }
}

function countOutcomes(performed: readonly Performed[]): Drained['counts'] {
  const counts = { succeeded: 0, failed: 0, canceled: 0, retry: 0, later: 0, dropped: 0 }
  for (const { outcome } of performed) counts[outcome] += 1
  return counts
}

export type WorkOptions = {
  readonly id?: TaskId
  readonly scope?: string
  readonly key?: string
  readonly creator?: TaskId
  /** Transient errors so far. */
  readonly failures?: number
  readonly signal?: AbortSignal
  readonly onLog?: (message: string, fields?: Record<string, unknown>) => void
}

/**
 * Runs only the `work` function, on the payload as the schema gives it, without a database. Answers what it returns
 * and throws what it throws; a payload that the schema refuses throws `InvalidPayload`.
 */
export async function work<W extends AnyWorker>(
  worker: W,
  payload: PayloadInput<W>,
  options: WorkOptions = {},
): Promise<Awaited<ReturnType<W['work']>>> {
  const run = new Run(
    worker,
    {
      id: options.id ?? '1',
      epoch: 1,
      failures: options.failures ?? 0,
      deaths: 0,
      scope: options.scope ?? 'default',
      key: options.key ?? null,
      creator: options.creator ?? null,
      payload: parse(worker.payload, payload, worker.kind),
    },
    0,
  )
  const context = new Context(run, (_run, message, fields) => options.onLog?.(message, fields))
  const { signal } = options
  return worker.work(
    signal === undefined ? context : { payload: context.payload, task: run.task, log: context.log, signal },
  )
}
