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
  /** The incarnation of the dispatcher that claimed it: with the epoch, the fencing token. */
  readonly holder: number
  readonly worker: AnyWorker
  readonly failures: number
  readonly deaths: number
  readonly scope: string
  readonly key: string | null
  readonly creator: string | null
  /** Undefined where nobody asks how far was claimed. */
  readonly place: Place | undefined
  payload: unknown
  stopped: StopReason | undefined
  #controller: AbortController | undefined

  constructor(worker: AnyWorker, row: ClaimedRow, holder: number, place?: Place) {
    this.id = row.id
    this.epoch = row.epoch
    this.holder = holder
    this.worker = worker
    this.failures = row.failures
    this.deaths = row.deaths
    this.scope = row.scope
    this.key = row.key
    this.creator = row.creator
    this.place = place
    this.payload = row.payload
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
    return {
      id: this.id,
      kind: this.worker.kind,
      scope: this.scope,
      key: this.key,
      payload: this.payload,
      creator: this.creator,
      failures: this.failures,
      deaths: this.deaths,
      epoch: this.epoch,
    }
  }
}

/** Where a task stood in the line of those that are ready. */
export type Place = {
  readonly lane: number
  readonly priority: number
  /** Its place among the ready tasks of its lane and priority. */
  readonly readyOrder: string
}

export const placeOf = ({ lane, priority, readyOrder }: Place): Place => ({ lane, priority, readyOrder })

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
