import type { AnyWorker, Log, WorkContext, WorkedTask } from './worker.ts'

/** Why a running task's signal was aborted. */
export type StopReason = 'canceled' | 'lease_lost' | 'stopping'

/** The reason a signal carries: `signal.reason.code` tells a cancel from a lost lease and from a stop. */
export class WorkStopped extends Error {
  readonly code: StopReason
  constructor(code: StopReason) {
    super(
      { canceled: 'the task was canceled', lease_lost: 'the lease was lost', stopping: 'the dispatcher stops' }[code],
    )
    this.code = code
  }
}

/** A task in the hands of this dispatcher: claimed, and once begun, being performed. */
export class Run {
  readonly id: string
  readonly epoch: number
  /** The incarnation of the dispatcher that has it: with the epoch, the fencing token. */
  holder: number
  readonly worker: AnyWorker
  /** Undefined where nobody asks how far was claimed. */
  readonly place: Place | undefined
  payload: unknown
  stopped: StopReason | undefined
  /** Since when it waits to be begun. */
  waitsSince = 0
  readonly #row: ClaimedRow
  #controller: AbortController | undefined

  constructor(worker: AnyWorker, row: ClaimedRow, holder: number, place?: Place) {
    this.id = row.id
    this.epoch = row.epoch
    this.holder = holder
    this.worker = worker
    this.place = place
    this.payload = row.payload
    row.payload = undefined // it may be large, and is replaced by what the schema makes of it
    this.#row = row
  }

  get failures(): number {
    return this.#row.failures
  }

  get deaths(): number {
    return this.#row.deaths
  }

  /** Made when first asked for: most short work never looks at it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.stopped !== undefined) this.#controller.abort(new WorkStopped(this.stopped))
    }
    return this.#controller.signal
  }

  stop(reason: StopReason): void {
    if (this.stopped !== undefined) return
    this.stopped = reason
    this.#controller?.abort(new WorkStopped(reason))
  }

  get task(): WorkedTask<unknown> {
    const { id, epoch, payload, worker } = this
    const { scope, key, creator, failures, deaths } = this.#row
    return { id, kind: worker.kind, scope, key, payload, creator, failures, deaths, epoch }
  }
}

/** Where a task stood in the line of those that are ready. */
export type Place = {
  readonly lane: number
  readonly priority: number
  /** Its place among the ready tasks of its lane and priority. */
  readonly readyOrder: string
}

export type ClaimedRow = {
  id: string
  epoch: number
  failures: number
  deaths: number
  scope: string
  key: string | null
  creator: string | null
  payload: unknown
}

/** What `work` receives. A class, so that the signal is made only when it is looked at. */
export class Context implements WorkContext<unknown> {
  readonly #run: Run
  readonly #log: (run: Run, message: string, fields?: Record<string, unknown>) => void
  readonly payload: unknown

  constructor(run: Run, log: (run: Run, message: string, fields?: Record<string, unknown>) => void) {
    this.#run = run
    this.#log = log
    this.payload = run.payload
  }

  get task(): WorkedTask<unknown> {
    return this.#run.task
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  get log(): Log {
    return (message, fields) => this.#log(this.#run, message, fields)
  }
}
