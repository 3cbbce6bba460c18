// The dispatcher claims tasks in batches, performs them, and hands successes back with its next claim: one round trip
// and one commit for both. While a step is under way finished tasks gather for the next, so batches grow with the load
// by themselves and an idle dispatcher answers at once.
import { hostname } from 'node:os'
import { isConnectionLost, isRetryable, type Listener, type Pool } from '../db/index.ts'
import { beginSuspect, canceling, expire, heartbeat, register, step, unregister } from './dispatchers.sql.ts'
import { InvalidOption, LeaseLost } from './errors.ts'
import type { Names } from './names.ts'
import { Pace } from './pace.ts'
import { perform } from './perform.ts'
import { reconcile, resolveRefused } from './reconcile.ts'
import { type ClaimedRow, Run } from './run.ts'
import { requeueTasks } from './tasks.sql.ts'
import type { AnyWorker } from './worker.ts'

export type DispatchOptions = {
  /** Tasks performed at once. Default: 10. */
  readonly concurrency?: number
  /** Queues to take tasks from. Default: each worker's own. */
  readonly queues?: readonly string[]
  /** How long a silent dispatcher keeps its tasks. Default: 30. */
  readonly leaseSeconds?: number
  /** Tasks claimed beyond the free places, at most, while they are short. Default: 500. */
  readonly prefetch?: number
  /** Deaths of a dispatcher after which a task that ran there fails. Default: 5. */
  readonly maxDeaths?: number
  /** How long `stop` waits for running tasks before it hands them back. Default: 30. */
  readonly stopSeconds?: number
  /** Shown in the list of dispatchers. Default: host and process. */
  readonly name?: string
  readonly onLog?: (entry: { task: string; kind: string; message: string; fields?: Record<string, unknown> }) => void
  /** Told of faults that no task can be blamed for; the dispatcher goes on. */
  readonly onError?: (error: Error) => void
}

type Finished = { readonly run: Run; readonly output: string | null; readonly isUnchanged: boolean }

const MOST_STEPS_AT_ONCE = 2
const MOST_FINISHED_PER_STEP = 1000
const TICK_MS = 1000
const STALE_QUEUE_MS = 1000

export type Dispatcher = {
  /** The incarnation: changes when the lease was lost and taken anew. */
  readonly id: number
  /** Resolves when nothing is running and nothing is ready for it. */
  idle(): Promise<void>
  /** Stops claiming, hands back what was not begun, waits for what runs, and hands that back too when it takes too long. */
  stop(): Promise<void>
}

export type DispatcherParts = {
  readonly pool: Pool
  readonly names: Names
  readonly listen: (onWake: () => void, onCancel: (holder: string) => void) => Listener | undefined
}

export class DispatcherLoop implements Dispatcher {
  readonly #parts: DispatcherParts
  readonly #options: Required<Omit<DispatchOptions, 'queues' | 'onLog' | 'onError'>> & DispatchOptions
  readonly #workers: ReadonlyMap<string, AnyWorker>
  readonly #pace: Pace
  #workerOfLane = new Map<number, AnyWorker>()
  #lanes: number[] = []
  #holder = 0
  #leaseEndsAt = 0

  readonly #running = new Map<string, Run>()
  readonly #queue: Run[] = []
  readonly #finished: Finished[] = []
  #queuedAt = 0
  #stepsUnderWay = 0
  #isDry = false
  #isIdleListed = false
  #needsReconcile = false
  #isStopping = false
  #isLosing = false
  #isScheduled = false
  #poll: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #beat: NodeJS.Timeout | undefined
  #listener: Listener | undefined
  #waiters: (() => void)[] = []

  constructor(parts: DispatcherParts, workers: readonly AnyWorker[], options: DispatchOptions) {
    const { concurrency = 10, leaseSeconds = 30, prefetch = 500, maxDeaths = 5, stopSeconds = 30 } = options
    const name = options.name ?? `${hostname()}:${process.pid}`
    if (!(Number.isInteger(concurrency) && concurrency >= 1))
      throw new InvalidOption(`concurrency must be a whole number of at least 1, not ${concurrency}`)
    if (!(leaseSeconds > 0)) throw new InvalidOption(`leaseSeconds must be a positive number, not ${leaseSeconds}`)
    if (workers.length === 0) throw new InvalidOption('a dispatcher needs at least one worker')
    this.#parts = parts
    this.#options = { ...options, concurrency, leaseSeconds, prefetch, maxDeaths, stopSeconds, name }
    for (const worker of workers) parts.names.define(worker)
    this.#workers = new Map(workers.map((worker) => [worker.kind, worker]))
    this.#pace = new Pace(concurrency, prefetch)
  }

  get id(): number {
    return this.#holder
  }

  async start(): Promise<void> {
    const wanted = [...this.#workers.values()].flatMap((worker) =>
      (this.#options.queues ?? [worker.queue ?? 'default']).map((queue) => ({ queue, kind: worker.kind })),
    )
    this.#lanes = await this.#parts.names.laneIds(wanted)
    this.#workerOfLane = new Map(
      this.#lanes.map((lane, i) => [lane, this.#workers.get(wanted[i]?.kind as string) as AnyWorker]),
    )
    await this.#register()
    this.#listener = this.#parts.listen(
      () => this.#wake(),
      (holder) => {
        if (holder === String(this.#holder)) this.#lookForCancels()
      },
    )
    this.#tick = setInterval(() => this.#onTick(), TICK_MS)
    this.#beat = setInterval(() => this.#renew(), (this.#options.leaseSeconds * 1000) / 3) // two renewals may be lost before the lease is
    this.#schedule()
  }

  async #register(): Promise<void> {
    const leaseMs = this.#options.leaseSeconds * 1000
    const asked = performance.now()
    const { id } = await register(this.#parts.pool, {
      name: this.#options.name,
      lease_seconds: this.#options.leaseSeconds,
      lanes: this.#lanes,
    })
    this.#holder = id
    this.#leaseEndsAt = asked + leaseMs
    this.#isIdleListed = false
    this.#isDry = false
    this.#pace.forgetMarks()
  }

  // --- the loop -------------------------------------------------------------------------------------------------

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#turn()
    })
  }

  #wake(): void {
    this.#isDry = false
    this.#schedule()
  }

  #turn(): void {
    if (this.#isLosing) return
    while (this.#stepsUnderWay < MOST_STEPS_AT_ONCE) {
      const room = this.#isStopping ? 0 : this.#pace.room(this.#running.size, this.#queue.length)
      const hasFinished = this.#finished.length > 0
      if (!hasFinished && (room <= 0 || this.#isDry)) break
      // With a step on its way, wait for a good batch; its answer comes back here anyway.
      if (this.#stepsUnderWay > 0 && this.#finished.length < this.#pace.batch) break
      void this.#step(room)
    }
    this.#settleIdle()
  }

  async #step(room: number): Promise<void> {
    const finished = this.#finished.splice(0, MOST_FINISHED_PER_STEP)
    const scan = this.#pace.scan(this.#lanes, this.#isDry)
    const idle = this.#isDry && !this.#isIdleListed ? true : this.#isIdleListed && this.#pace.isSaturated ? false : null
    const holder = this.#holder
    this.#stepsUnderWay += 1
    clearTimeout(this.#poll)
    try {
      const rows = await step(this.#parts.pool, {
        holder,
        ids: finished.map((f) => f.run.id),
        epochs: finished.map((f) => f.run.epoch),
        outputs: finished.some((f) => f.output !== null) ? finished.map((f) => f.output) : null,
        unchanged: finished.flatMap((f) => (f.isUnchanged ? [f.run.id] : [])),
        lanes: this.#lanes,
        from_priority: scan.priorities,
        from_order: scan.orders,
        limit: Math.max(0, room),
        idle,
      })
      if (idle !== null) this.#isIdleListed = idle
      const answer = rows.pop() as (typeof rows)[number]
      this.#pace.stepped(rows, room, scan)
      this.#settleFinished(finished, answer.accepted ?? [])
      this.#afterClaim(rows.length, room, idle === true, answer)
      if (holder === this.#holder) this.#begin(rows as (ClaimedRow & { lane: number })[])
      if (answer.is_alive === false && holder === this.#holder) void this.#lose()
    } catch (error) {
      this.#stepFailed(finished, error as Error)
    } finally {
      this.#stepsUnderWay -= 1
      this.#schedule()
    }
  }

  #afterClaim(
    claimed: number,
    room: number,
    listed: boolean,
    answer: { has_effects: boolean | null; due_seconds: number | null },
  ): void {
    if (room <= 0) return
    this.#isDry = claimed < room
    if (!this.#isDry) return
    // Not on the list of sleepers yet: get on it and look once more, so that no one adds a task in between unheard.
    if (!this.#isIdleListed && !listed) {
      this.#pace.restartPolling()
      this.#pollIn(0)
      return
    }
    const dueMs = answer.due_seconds === null ? Number.POSITIVE_INFINITY : Math.max(1, answer.due_seconds * 1000 + 1)
    const effectsMs = answer.has_effects ? 10 : Number.POSITIVE_INFINITY
    this.#pollIn(Math.min(this.#pace.nextPollMs(this.#listener?.isConnected ?? false), dueMs, effectsMs))
  }

  #pollIn(ms: number): void {
    clearTimeout(this.#poll)
    this.#poll = setTimeout(() => {
      if (this.#isStopping || this.#isLosing || this.#stepsUnderWay > 0) return
      const room = this.#pace.room(this.#running.size, this.#queue.length)
      if (room > 0) void this.#step(room)
    }, ms)
  }

  #stepFailed(finished: readonly Finished[], error: Error): void {
    // Whether the step committed is unknown. Successes are offered again, and whatever it claimed is looked for.
    this.#finished.unshift(...finished)
    this.#needsReconcile = true
    if (!isConnectionLost(error) && !isRetryable(error)) this.#options.onError?.(error)
    this.#isDry = true
    this.#isIdleListed = false
    setTimeout(() => this.#recover(), 50 + Math.random() * 200)
  }

  #recover(): void {
    if (this.#stepsUnderWay > 0) {
      setTimeout(() => this.#recover(), 50)
      return
    }
    if (!this.#needsReconcile) return this.#wake()
    this.#stepsUnderWay += MOST_STEPS_AT_ONCE // no claims meanwhile: what is unknown must stay unknown for a good reason
    reconcile(this.#parts.pool, this.#holder, (id, epoch) => this.#knows(id, epoch))
      .then(() => {
        this.#needsReconcile = false
      })
      .catch(() => {})
      .finally(() => {
        this.#stepsUnderWay -= MOST_STEPS_AT_ONCE
        if (this.#needsReconcile) setTimeout(() => this.#recover(), 200 + Math.random() * 300)
        else this.#wake()
      })
  }

  #knows(id: string, epoch: number): boolean {
    return (
      this.#running.get(id)?.epoch === epoch ||
      this.#queue.some((run) => run.id === id && run.epoch === epoch) ||
      this.#finished.some((f) => f.run.id === id && f.run.epoch === epoch)
    )
  }

  // --- performing -----------------------------------------------------------------------------------------------

  #begin(rows: readonly (ClaimedRow & { lane: number })[]): void {
    if (rows.length === 0) return
    if (this.#queue.length === 0) this.#queuedAt = performance.now()
    for (const row of rows) this.#queue.push(new Run(this.#workerOfLane.get(row.lane) as AnyWorker, row))
    if (this.#isStopping) void this.#handBack(this.#queue.splice(0))
    else this.#fill()
  }

  #fill(): void {
    while (this.#queue.length > 0 && this.#running.size < this.#options.concurrency && !this.#isStopping) {
      const run = this.#queue.shift() as Run
      this.#running.set(run.id, run)
      if (run.deaths > 0) void this.#beginSuspect(run)
      else this.#perform(run)
    }
  }

  async #beginSuspect(run: Run): Promise<void> {
    const holder = this.#holder
    const mine = await beginSuspect(this.#parts.pool, { holder, id: run.id, epoch: run.epoch }).catch(() => undefined)
    if (mine?.is_mine) return this.#perform(run)
    this.#ended(run)
    if (mine === undefined) await this.#handBack([run])
    else await resolveRefused(this.#recorder(holder), [run], (error) => this.#options.onError?.(error))
  }

  #perform(run: Run): void {
    perform(this.#recorder(this.#holder), run, {
      onLog: (of, message, fields) =>
        this.#options.onLog?.({
          task: of.id,
          kind: of.worker.kind,
          message,
          ...(fields === undefined ? {} : { fields }),
        }),
      onSuccess: (output, isUnchanged) => {
        this.#finished.push({ run, output, isUnchanged })
        this.#ended(run)
      },
      onRecorded: () => this.#ended(run),
      onError: (error) => this.#options.onError?.(error),
    })
  }

  #ended(run: Run): void {
    if (this.#running.get(run.id) === run) this.#running.delete(run.id)
    this.#pace.ended()
    this.#fill()
    // A recorded outcome may have released or added tasks for this very dispatcher.
    this.#isDry = false
    this.#schedule()
  }

  #settleFinished(finished: readonly Finished[], accepted: readonly string[]): void {
    if (finished.length === 0 || accepted.length === finished.length) return
    const taken = new Set(accepted)
    const refused = finished.filter((f) => !taken.has(f.run.id))
    const again = (runs: readonly Run[]) => {
      this.#finished.push(...refused.filter((f) => runs.includes(f.run)))
      this.#schedule()
    }
    resolveRefused(
      this.#recorder(this.#holder),
      refused.map((f) => f.run),
      (error) => this.#options.onError?.(error),
    )
      .then(again)
      .catch(() => setTimeout(() => again(refused.map((f) => f.run)), 200))
  }

  #recorder(holder: number) {
    return { pool: this.#parts.pool, names: this.#parts.names, holder }
  }

  // --- the lease ------------------------------------------------------------------------------------------------

  #renew(): void {
    const holder = this.#holder
    const asked = performance.now()
    heartbeat(this.#parts.pool, { holder })
      .then((answer) => {
        if (holder !== this.#holder) return
        if (!answer.is_alive) return this.#lose()
        this.#leaseEndsAt = asked + this.#options.leaseSeconds * 1000
        this.#stop(answer.canceling)
        return undefined
      })
      .catch(() => {})
      .finally(() => {
        // The database is out of reach and the lease is over: others may run these tasks by now.
        if (holder === this.#holder && performance.now() > this.#leaseEndsAt) {
          for (const run of this.#running.values()) run.stop('lease_lost')
        }
      })
  }

  #lookForCancels(): void {
    canceling(this.#parts.pool, { holder: this.#holder })
      .then(({ ids }) => this.#stop(ids))
      .catch(() => {})
  }

  #stop(ids: readonly string[]): void {
    for (const id of ids) {
      const queued = this.#queue.findIndex((run) => run.id === id)
      if (queued >= 0) void this.#handBack(this.#queue.splice(queued, 1))
      else this.#running.get(id)?.stop('canceled')
    }
  }

  /** The lease ran out and the tasks were given to others: stop everything and begin anew. */
  async #lose(): Promise<void> {
    if (this.#isLosing) return
    this.#isLosing = true
    for (const run of this.#running.values()) run.stop('lease_lost')
    const lost = [...this.#queue.splice(0), ...this.#finished.splice(0).map((f) => f.run)]
    void resolveRefused(this.#recorder(this.#holder), lost, (error) => this.#options.onError?.(error)).catch(() => {})
    while (!this.#isStopping) {
      try {
        await this.#register()
        break
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
    this.#isLosing = false
    this.#schedule()
  }

  #onTick(): void {
    expire(this.#parts.pool, { max_deaths: this.#options.maxDeaths })
      .then(({ count }) => {
        if (count > 0) this.#wake()
      })
      .catch(() => {})
    if (!(this.#listener?.isConnected ?? false)) this.#lookForCancels()
    // Claimed for the near future, which did not come: let others have them.
    if (this.#queue.length > 0 && performance.now() - this.#queuedAt > STALE_QUEUE_MS) {
      this.#pace.slowed()
      void this.#handBack(this.#queue.splice(0))
    }
    this.#queuedAt = performance.now()
  }

  async #handBack(runs: readonly Run[]): Promise<void> {
    if (runs.length === 0) return
    await requeueTasks(this.#parts.pool, {
      holder: this.#holder,
      ids: runs.map((run) => run.id),
      epochs: runs.map((run) => run.epoch),
      outcome: 'handed_back',
      delays: null,
      errors: null,
    }).catch((error: Error) => {
      this.#needsReconcile = true
      if (!isConnectionLost(error)) this.#options.onError?.(error)
      setTimeout(() => this.#recover(), 200)
    })
  }

  // --- the end --------------------------------------------------------------------------------------------------

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
      this.#wake()
    })
  }

  #isQuiet(): boolean {
    return (
      this.#running.size === 0 && this.#queue.length === 0 && this.#finished.length === 0 && this.#stepsUnderWay === 0
    )
  }

  #settleIdle(): void {
    if (!this.#isQuiet() || !(this.#isDry || this.#isStopping)) return
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    clearTimeout(this.#poll)
    await this.#handBack(this.#queue.splice(0))
    const quiet = this.#untilQuiet()
    const timer = setTimeout(() => {
      for (const run of this.#running.values()) run.stop('stopping')
    }, this.#options.stopSeconds * 1000)
    const late = new Promise<void>((resolve) => setTimeout(resolve, this.#options.stopSeconds * 1000 + 1000).unref())
    await Promise.race([quiet, late])
    clearTimeout(timer)
    clearInterval(this.#tick)
    clearInterval(this.#beat)
    await this.#handBack([...this.#running.values()])
    await this.#listener?.close()
    await unregister(this.#parts.pool, { holder: this.#holder }).catch(() => {})
  }

  #untilQuiet(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
      this.#schedule()
    })
  }
}

export { LeaseLost }
