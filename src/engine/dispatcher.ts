// The dispatcher claims tasks in batches, performs them, and hands successes back with its next claim: one round trip
// and one commit for both. While a step is under way finished tasks gather for the next: batches grow with the load.
import { isPassing, Line, type Listener } from '../db/index.ts'
import { type Dispatcher, type DispatcherParts, type DispatchOptions, toSettings } from './dispatch-options.ts'
import { beginBehind, beginSuspect } from './dispatchers.sql.ts'
import { InvalidOption } from './errors.ts'
import { lanesOf } from './lanes-of.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { Looks } from './looks.ts'
import { Lost } from './lost.ts'
import { NextLook } from './next-look.ts'
import { Pace } from './pace.ts'
import { type PerformEvents, perform } from './perform.ts'
import { reconcile, resolveRefused } from './reconcile.ts'
import type { Recorder } from './record.ts'
import { Recovery } from './recovery.ts'
import { type Finished, Refused } from './refused.ts'
import { Returns } from './returns.ts'
import { type Place, Run } from './run.ts'
import { type ClaimedTask, type StepAnswer, stepOn } from './step.ts'
import { Unbegun } from './unbegun.ts'
import { Wish } from './wish.ts'
import { withGrace } from './with-grace.ts'
import type { AnyWorker } from './worker.ts'

const MOST_FINISHED_PER_STEP = 1000
const STALE_QUEUE_MS = 1000
const EFFECTS_POLL_MS = 10
const UNSURE_POLL_MS = 5
const FEW_GONE = '100000' // tasks that can be walked over in no time

export class DispatcherLoop implements Dispatcher {
  readonly #parts: DispatcherParts
  readonly #options: ReturnType<typeof toSettings>
  readonly #workers: readonly AnyWorker[]
  readonly #recorder: Recorder
  readonly #pace: Pace
  readonly #lease: LeaseKeeper
  readonly #lost: Lost
  readonly #behind = () => beginBehind(this.#parts.control, { lanes: this.#lanes, few: FEW_GONE })
  readonly #wish: Wish
  #workerOfLane = new Map<number, AnyWorker>()
  #lanes: number[] = []

  readonly #running = new Map<string, Run>()
  readonly #unbegun: Unbegun
  readonly #finished: Finished[] = []
  readonly #refused = new Refused({
    resolve: (runs) => this.#resolve(runs),
    onAgain: (finished) => {
      this.#finished.push(...finished)
      this.#schedule()
    },
  })
  readonly #events: PerformEvents = {
    onLog: (run, message, fields = {}) =>
      this.#options.onLog?.({ task: run.id, kind: run.worker.kind, message, fields }),
    onSuccess: (run, output, isUnchanged) => {
      // Handed back by `stop`: the result came too late.
      if (this.#isOver) this.#resolve([run]).catch(() => {})
      else this.#finished.push({ run, output, isUnchanged, refusals: 0 })
      this.#ended(run)
    },
    onRecorded: (run) => {
      this.#parts.onChange()
      this.#ended(run)
    },
    onError: (error) => this.#options.onError?.(error),
  }
  readonly #returns: Returns
  readonly #recovery: Recovery
  readonly #looks: Looks
  /** Before that it has no lease to claim with, and its lines are not open. */
  #isSetUp = false
  #isDry = false
  #mustLookFully = false
  #hasEffects = false
  #isIdleListed = false
  #isStopping = false
  #isOver = false
  #isLosing = false
  #isScheduled = false
  #isFilling = false
  #unsettled = 0
  readonly #nextLook = new NextLook(() => this.#turn())
  #staleCheck: NodeJS.Timeout | undefined
  #listener: Listener | undefined
  #waiters: (() => void)[] = []
  #starting: Promise<void> | undefined

  constructor(parts: DispatcherParts, workers: readonly AnyWorker[], options: DispatchOptions) {
    this.#parts = parts
    this.#options = toSettings(options)
    if (workers.length === 0) throw new InvalidOption('a dispatcher needs at least one worker')
    for (const worker of workers) parts.names.define(worker)
    this.#workers = workers
    this.#recorder = { pool: parts.pool, names: parts.names, mayResume: () => !this.#isOver }
    this.#looks = new Looks(Array.from({ length: this.#options.stepsAtOnce }, () => new Line(parts.control)))
    this.#unbegun = new Unbegun(this.#options.maxDeaths)
    this.#wish = new Wish(this.#options.onDrained)
    this.#pace = new Pace(this.#options.concurrency, this.#options.prefetch, this.#options.fair)
    this.#returns = new Returns(parts.control, {
      onBack: (places) => this.#wake(places),
      onTrouble: (error) => this.#trouble(error),
    })
    this.#recovery = new Recovery({
      leaseMs: this.#options.leaseSeconds * 1000,
      ask: () => reconcile(parts.control, this.#lease.holder, (id, epoch) => this.#knows(id, epoch)),
      isBusy: () => this.#looks.size > 0,
      isOver: () => this.#isOver || (this.#isStopping && this.#running.size === 0),
      onDone: () => {
        this.#isIdleListed = false
        this.#wake()
      },
    })
    this.#lease = new LeaseKeeper(
      parts,
      { ...this.#options, retention: parts.retention },
      {
        onLost: () => void this.#lose(),
        onCertain: () => this.#fill(),
        onCancel: (ids) => this.#cancel(ids),
        onExpired: () => this.#wake(),
        onWanted: (wanted) => this.#wish.hear(wanted) && this.#obey(),
        reached: () => this.#reached(),
      },
    )
    this.#lost = new Lost(parts.control, this.#lease, {
      runs: () => [...this.#running.values(), ...this.#finished.map(({ run }) => run), ...this.#refused.runs()],
      onRetaken: async () => this.#pace.begin(await this.#behind()),
      isOver: () => this.#isOver,
    })
  }

  get id(): number {
    return this.#lease.holder
  }

  start(): Promise<void> {
    this.#starting = this.#setUp()
    return this.#starting
  }

  async #setUp(): Promise<void> {
    this.#workerOfLane = await lanesOf(this.#parts.names, this.#workers, this.#options.queues)
    this.#lanes = [...this.#workerOfLane.keys()]
    await this.#looks.open()
    await this.#lease.take(this.#lanes)
    await this.#looks.rehearse({ holder: this.#lease.holder, lanes: this.#lanes.length })
    this.#pace.begin(await this.#behind())
    this.#listener = this.#parts.listen(
      () => this.#wake(),
      (holder) => holder === String(this.#lease.holder) && this.#lease.lookForCancels(),
    )
    await this.#listener.tried // from now on it hears, if it can
    this.#staleCheck = setInterval(() => this.#returnStale(), STALE_QUEUE_MS)
    this.#isSetUp = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#turn()
    })
  }

  /** There may be something to claim that no look has seen, and what came `back` lies before what was claimed. */
  #wake(back?: readonly Place[]): void {
    if (back !== undefined) this.#pace.reopen(back)
    this.#looks.outdate(back)
    this.#isDry = false
    this.#schedule()
  }

  #room(): number {
    if (this.#isStopping || !this.#wish.isToRun) return 0
    return this.#pace.room(this.#running.size + this.#unbegun.size + this.#looks.room)
  }

  #turn(): void {
    const mayLook = this.#isSetUp && !this.#isOver && !this.#isLosing
    while (mayLook && !this.#recovery.isUnderWay && this.#looks.isFree) {
      const room = this.#room()
      if (this.#finished.length === 0 && (room <= 0 || (this.#isDry && !this.#nextLook.isDue))) break
      // With a step on its way, wait for a good batch; its answer comes back here anyway. With more than enough to do
      // two steps take turns: one is with the database while the tasks of the other are performed.
      const { batch, isSaturated } = this.#pace
      if (this.#looks.size > 0 && this.#finished.length < batch && !(isSaturated && room >= batch)) break
      void this.#step(isSaturated ? Math.min(room, batch) : room)
    }
    this.#settleIdle()
  }

  async #step(room: number): Promise<void> {
    const holder = this.#lease.holder
    const finished = this.#finished.splice(0, MOST_FINISHED_PER_STEP)
    const scan = this.#pace.scan(this.#lanes, this.#mustLookFully)
    const idle = room > 0 ? this.#idleToTell() : null
    const look = this.#looks.begin(room)
    if (room > 0) this.#mustLookFully = false // otherwise it only hands back what is finished
    if (room > 0) this.#nextLook.made()
    try {
      const answer = await stepOn(look.line, {
        holder,
        ids: finished.map((f) => f.run.id),
        epochs: finished.map((f) => f.run.epoch),
        outputs: finished.some((f) => f.output !== null) ? finished.map((f) => f.output) : null,
        unchanged: finished.flatMap((f) => (f.isUnchanged ? [f.run.id] : [])),
        lanes: scan.lanes,
        from_priority: scan.fromPriorities,
        from_order: scan.fromOrders,
        to_priority: scan.toPriorities,
        ...scan.slices,
        limit: look.room,
        idle,
        is_fair: this.#options.fair,
      })
      if (finished.length + answer.tasks.length > 0) this.#parts.onChange()
      if (idle !== null) this.#isIdleListed = idle
      this.#pace.stepped(answer.tasks, room, scan)
      this.#pace.reopen(look.back)
      this.#refused.settle(finished, answer.accepted)
      if (answer.tasks.length < room && !look.isOutdated) this.#planNextLook(scan.isComplete, answer)
      else this.#wake() // there may be more than it had room for, and it may have released some itself
      this.#begin(answer.tasks, holder)
      if (!answer.isAlive && holder === this.#lease.holder) void this.#lose()
    } catch (error) {
      // Whether the step committed is unknown. Successes are offered again, and whatever it claimed is looked for.
      this.#finished.unshift(...finished)
      this.#trouble(error as Error)
    } finally {
      this.#looks.end(look)
      this.#schedule()
    }
  }

  /** Whether to get on the list of sleepers or off it; null leaves it. */
  #idleToTell(): boolean | null {
    if (this.#isDry && !this.#isIdleListed) return true
    return this.#isIdleListed && this.#pace.isSaturated ? false : null
  }

  #planNextLook(isCertain: boolean, { dueSeconds, hasEffects }: StepAnswer): void {
    this.#isDry = true
    this.#hasEffects = hasEffects
    // Looked only behind the last claim: before going to sleep, look from the start, unless more work comes first.
    if (!isCertain) {
      this.#mustLookFully = true
      this.#nextLook.planIn(this.#running.size > 0 ? UNSURE_POLL_MS : 0)
      return
    }
    // Not on the list of sleepers yet: get on it and look once more, so that no one adds a task in between unheard.
    if (!this.#isIdleListed) {
      this.#pace.restartPolling()
      this.#nextLook.planIn(0)
      return
    }
    const dueMs = dueSeconds === null ? Number.POSITIVE_INFINITY : Math.max(1, dueSeconds * 1000 + 1)
    const effectsMs = hasEffects ? EFFECTS_POLL_MS : Number.POSITIVE_INFINITY
    this.#nextLook.planIn(Math.min(this.#pace.nextPollMs(this.#listener?.isConnected ?? false), dueMs, effectsMs))
  }

  #begin(tasks: readonly ClaimedTask[], holder: number): void {
    const runs = tasks.map((task) => new Run(this.#workerOfLane.get(task.lane) as AnyWorker, task, holder, task))
    if (this.#isStopping || !this.#wish.isToRun || holder !== this.#lease.holder) this.#returns.give(runs)
    else for (const run of runs) this.#unbegun.push(run)
    this.#fill()
  }

  #fill(): void {
    if (this.#isFilling) return // work that ends at once comes back here: a loop, not a recursion
    this.#isFilling = true
    // While the lease is uncertain nothing begins: others may have it by now.
    while (this.#running.size < this.#options.concurrency && !this.#isStopping && this.#lease.isCertain) {
      const run = this.#unbegun.next()
      if (run === undefined) break
      this.#running.get(run.id)?.stop('lease_lost') // lost, still at work, and claimed again
      this.#running.set(run.id, run)
      this.#pace.began()
      if (run.deaths > 0) void this.#performSuspect(run)
      else perform(this.#recorder, run, this.#events)
    }
    this.#isFilling = false
  }

  /** A dispatcher died while it had this task: say that it begins, so that only what had begun is blamed next time. */
  async #performSuspect(run: Run): Promise<void> {
    const { id, epoch, holder } = run
    const answer = await beginSuspect(this.#parts.control, { holder, id, epoch }).catch(() => undefined)
    if (answer?.is_mine) return perform(this.#recorder, run, this.#events)
    this.#ended(run)
    if (answer === undefined) this.#returns.give([run])
    else await this.#resolve([run]).catch(() => {})
    return undefined
  }

  #ended(run: Run): void {
    if (this.#running.get(run.id) === run) this.#running.delete(run.id)
    this.#unbegun.ended(run)
    this.#fill()
    this.#pace.ended(this.#running.size === 0)
    this.#wake() // a recorded outcome may have released or added tasks for this very dispatcher
  }

  #resolve(runs: readonly Run[]): Promise<Run[]> {
    const pool = this.#isOver ? this.#parts.pool : this.#parts.control
    this.#unsettled += 1
    return resolveRefused({ ...this.#recorder, pool }, runs, (error) => this.#options.onError?.(error)).finally(() => {
      this.#unsettled -= 1
      this.#wake() // what was found canceled may have released others
    })
  }

  #trouble(error: Error): void {
    if (!isPassing(error)) this.#options.onError?.(error)
    this.#recovery.begin()
  }

  #knows(id: string, epoch: number): boolean {
    if (this.#running.get(id)?.epoch === epoch || this.#unbegun.has(id, epoch) || this.#refused.has(id, epoch))
      return true
    return this.#finished.some(({ run }) => run.id === id && run.epoch === epoch)
  }

  /** The lease ran out: takes another, and with it what no other attempt has begun. */
  async #lose(): Promise<void> {
    if (this.#isLosing) return
    this.#isLosing = true
    this.#unbegun.takeAll()
    await this.#lost.retake()
    this.#isLosing = this.#isIdleListed = false
    this.#wake()
  }

  #cancel(ids: readonly string[]): void {
    for (const id of ids) {
      const unbegun = this.#unbegun.take(id)
      if (unbegun.length > 0) this.#returns.give(unbegun)
      else this.#running.get(id)?.stop('canceled')
    }
  }

  /** Tasks claimed for the near future, which did not come: let others have them. */
  #returnStale(): void {
    const stale = this.#unbegun.takeStale(STALE_QUEUE_MS)
    if (stale.length > 0) this.#pace.slowed()
    this.#returns.give(stale)
  }

  #obey(): void {
    if (!this.#wish.isToRun) this.#returns.give(this.#unbegun.takeAll())
    this.#wake()
  }

  #reached(): string | null {
    return this.#pace.reached([...this.#unbegun.places(), ...this.#returns.places()])
  }

  idle(): Promise<void> {
    this.#wake()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  #settleIdle(): void {
    const inHand = this.#running.size + this.#unbegun.size + this.#finished.length + this.#refused.size
    const underWay = this.#looks.size + this.#returns.size + this.#unsettled
    const isQuiet = inHand + underWay === 0 && !this.#recovery.isUnderWay
    const isSure = this.#isDry && !this.#mustLookFully && !this.#hasEffects
    if (isQuiet) this.#wish.quiet()
    if (!isQuiet || !(isSure || this.#isStopping || !this.#wish.isToRun)) return
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    // What has begun to start would otherwise go on listening after the end.
    await this.#starting?.catch(() => {})
    clearInterval(this.#staleCheck)
    this.#recovery.close()
    const reached = this.#reached()
    this.#returns.give(this.#unbegun.takeAll())
    await withGrace(this.idle(), this.#options.stopSeconds * 1000, () => {
      for (const run of this.#running.values()) run.stop('stopping')
    })
    this.#isOver = true
    // Those of an earlier incarnation are not ours to give.
    this.#returns.give([...this.#running.values()].filter((run) => run.holder === this.#lease.holder))
    await this.#returns.close()
    await this.#listener?.close()
    this.#lost.close()
    await this.#lease.drop(reached)
    this.#looks.close()
    await Promise.all([this.#parts.control.end(), this.#parts.heartbeat.end()])
    this.#nextLook.close()
  }
}
