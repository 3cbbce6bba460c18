import {
  createPool,
  type Db,
  listen,
  migrate,
  type Pool,
  prepareWhereDirect,
  snapshot,
  unhurried,
} from '../db/index.ts'
import * as act from './act.ts'
import { actOnMany, type BulkOptions, type BulkResult, type BulkVerb } from './act-on-many.ts'
import { type AddedTask, type AddedTasks, add, dbToAdd } from './add.ts'
import { type AddItem, type AddOptions, type CheckedItems, checkMax, type GivenItems } from './add-options.ts'
import { type Attention, attention } from './attention.ts'
import { checkSchema } from './check-schema.ts'
import { countTasks, type TaskCount } from './count.ts'
import type { Dispatcher, DispatchOptions } from './dispatch-options.ts'
import { DispatcherLoop } from './dispatcher.ts'
import { notify } from './dispatchers.sql.ts'
import { translate } from './errors.ts'
import { EventHub } from './event-hub.ts'
import { heartbeatPool, type Wanted } from './lease-keeper.ts'
import { type ListOptions, listTasks, type TaskList } from './list.ts'
import { type DispatcherSummary, listDispatchers, want } from './list-dispatchers.ts'
import { type Line, listLines } from './list-lines.ts'
import { type Look, look } from './look.ts'
import { Names } from './names.ts'
import { optional } from './optional.ts'
import { type OutboxRetention, publish, readEvents, sequence } from './outbox.ts'
import { type PruneOptions, prune } from './prune.ts'
import * as reading from './read.ts'
import { verify } from './reads.sql.ts'
import { require as requireTask } from './record.ts'
import { resolveTask } from './resolve.ts'
import type { TaskId, TaskState } from './task.ts'
import type {
  ApplicationEvent,
  EventBatch,
  EventPage,
  ReadEventsOptions,
  SubscribeOptions,
  Subscription,
} from './task-event.ts'
import { setLimits } from './tasks.sql.ts'
import { type Throughput, throughput } from './throughput.ts'
import { type Timeline, tasksInWindow, timeline } from './timeline.ts'
import { type Typical, typical } from './typical.ts'
import { type Why, whyOf } from './why.ts'
import type { AnyWorker, PayloadInput, Requirement } from './worker.ts'

export type ConnectOptions = {
  readonly databaseUrl: string
  /** Bring the database to this release's schema first. Default: false. */
  readonly migrate?: boolean
  /** Connections at most. Default: 10. */
  readonly poolSize?: number
  /** How long events are kept for subscribers. Default: 7 days, and at most a million rows. */
  readonly eventRetention?: OutboxRetention
  /** Told of connections that broke; they are made again. */
  readonly onError?: (error: Error) => void
}

// Longer than any claim takes; when the route to the server is lost, the system itself notices only after a quarter of an hour.
const MOST_PATIENT_MS = 15_000

/**
 * Connects to the work graph in a database. Throws `SchemaRefused` for a database without the schema of this release, and
 * `IsolationRefused` where transactions would be stricter than READ COMMITTED.
 */
export async function connect(options: ConnectOptions): Promise<Millrace> {
  const pool = createPool({
    databaseUrl: options.databaseUrl,
    max: options.poolSize ?? 10,
    ...(options.onError === undefined ? {} : { onError: options.onError }),
  })
  try {
    await checkSchema(pool, options.migrate ?? false)
    if (options.migrate) await migrate(pool)
    await prepareWhereDirect(pool)
  } catch (error) {
    await pool.end()
    throw translate(error)
  }
  return new Millrace(pool, options.databaseUrl, options.eventRetention)
}

export type Parts = { readonly pool: Pool; readonly names: Names }

/** What a `Millrace` works with, for this package alone. */
export let partsOf: (millrace: Millrace) => Parts

/** The work graph: add tasks, look at them, act on them, follow them, run dispatchers. */
export class Millrace {
  static {
    partsOf = (millrace) => ({ pool: millrace.#pool, names: millrace.#names })
  }

  readonly #pool: Pool
  readonly #databaseUrl: string
  /** For names alone: callbacks may hold every connection of the pool while they ask for one. */
  readonly #lookups: Pool
  readonly #names: Names
  readonly #dispatchers = new Set<DispatcherLoop>()
  readonly #hub: EventHub
  readonly #retention: OutboxRetention

  constructor(pool: Pool, databaseUrl: string, retention: OutboxRetention = {}) {
    this.#pool = pool
    this.#databaseUrl = databaseUrl
    this.#lookups = createPool({ databaseUrl, max: 1, applicationName: 'millrace names' })
    this.#names = new Names(this.#lookups)
    this.#hub = new EventHub(pool)
    this.#retention = retention
  }

  /** Makes workers known by kind, so that tasks can be added by name without running them here. */
  define(...workers: readonly AnyWorker[]): void {
    for (const worker of workers) this.#names.define(worker)
  }

  async add<W extends AnyWorker | string>(
    worker: W,
    payload: W extends AnyWorker ? PayloadInput<W> : unknown,
    options: AddOptions = {},
  ): Promise<AddedTask> {
    const { client, actor, ...rest } = options
    const [added] = await this.#addAll([{ ...rest, worker, payload }], optional({ client, actor }))
    return added as AddedTask
  }

  /** Adds many tasks in one round trip, with edges among them: all or none. */
  addMany<Items extends GivenItems>(
    items: CheckedItems<Items>,
    options: { client?: Db; actor?: string } = {},
  ): Promise<AddedTasks<Items>> {
    return this.#addAll(items as readonly AddItem[], options) as Promise<AddedTasks<Items>>
  }

  #addAll(items: readonly AddItem[], options: { client?: Db; actor?: string }): Promise<AddedTask[]> {
    const { client = dbToAdd(this.#pool, items.length), actor } = options
    return this.#nudging(add(client, this.#names, items, optional({ actor })))
  }

  /** Adds a task without a kind: it succeeds by itself once its requirements are met. */
  async addMilestone(options: AddOptions = {}): Promise<AddedTask> {
    const { client, actor, ...rest } = options
    const [added] = await this.#addAll([{ ...rest, milestone: true }], optional({ client, actor }))
    return added as AddedTask
  }

  /** Changes the maximum of the limits that exist and whose groups match; `%` in the pattern matches anything. */
  async setLimits(pattern: string, max: number): Promise<void> {
    checkMax(pattern, max)
    await setLimits(unhurried(this.#pool), { pattern, capacity: max })
  }

  /** Adds requirements to a task that has not started. */
  require(task: string, requires: readonly Requirement[], options: { client?: Db } = {}): Promise<void> {
    return this.#nudging(requireTask((options.client as Pool | undefined) ?? this.#pool, task, requires))
  }

  /** Gives a task that has not started other requirements instead of those it has. */
  rewire(ref: reading.TaskRef, requires: readonly Requirement[], options?: act.ActOptions): Promise<void> {
    return this.#nudging(act.rewire(this.#pool, ref, requires, options))
  }

  /** Keeps tasks from starting until the client's transaction ends. Answers those that wait for their start. */
  keepFromStarting(ids: readonly string[], options: { client: Db }): Promise<string[]> {
    return act.keepFromStarting(options.client, ids)
  }

  /** The task; with its worker, payload and output have that worker's types. */
  task(ref: reading.TaskRef): Promise<reading.Task>
  task<W extends AnyWorker>(worker: W, ref: reading.TaskRef): Promise<reading.TaskOf<W>>
  task(first: reading.TaskRef | AnyWorker, ref?: reading.TaskRef): Promise<reading.Task> {
    if (ref === undefined) return reading.read(this.#pool, first as reading.TaskRef)
    return reading.readOf(this.#pool, first as AnyWorker, ref)
  }

  /** Tasks that meet a filter, newest first, a page at a time. */
  list(options: ListOptions = {}): Promise<TaskList> {
    return listTasks(this.#pool, options)
  }

  /** How many tasks are in each state. */
  count(): Promise<Record<TaskState, TaskCount>> {
    return countTasks(this.#pool)
  }

  /** What is ready and not begun, by queue and kind; the line whose first has waited the longest comes first. */
  lines(): Promise<Line[]> {
    return listLines(this.#pool)
  }

  /** What needs a person's attention among tasks and dispatchers; of what has happened, since a time. */
  attention(since: Date): Promise<Attention[]> {
    return attention(this.#pool, since)
  }

  /** How many tasks ended when, and how long they waited and ran. */
  throughput(of: { from: Date; to: Date; buckets: number }): Promise<Throughput> {
    return throughput(this.#pool, of)
  }

  /** Where the time of these tasks went. */
  timeline(ids: readonly string[], options: { isCut?: boolean } = {}): Promise<Timeline> {
    return snapshot(this.#pool, (db) => timeline(db, ids, options.isCut ?? false))
  }

  /** The same of tasks that ran in a time, on one dispatcher or on all. */
  timelineOf(window: { from: Date; to: Date; dispatcher?: number | undefined; limit: number }): Promise<Timeline> {
    return snapshot(this.#pool, async (db) => {
      const { ids, isCut } = await tasksInWindow(db, window)
      return timeline(db, ids, isCut)
    })
  }

  /** How long tasks like this one usually take; undefined when too few have succeeded. */
  async typical(ref: reading.TaskRef): Promise<Typical | undefined> {
    return typical(this.#pool, await reading.read(this.#pool, ref))
  }

  /** The id of a task that a person named: a number, `scope/key`, or `My-Project@12:index`. */
  resolve(name: string): Promise<TaskId> {
    return resolveTask(this.#pool, name)
  }

  /** Who performs tasks, here and elsewhere. */
  dispatchers(options: { all?: boolean } = {}): Promise<DispatcherSummary[]> {
    return listDispatchers(this.#pool, options)
  }

  /** Asks a dispatcher, wherever it is, to pause, to drain, or to go on. */
  want(dispatcher: number, wanted: Wanted, options: { actor?: string } = {}): Promise<void> {
    return this.#nudging(want(this.#pool, dispatcher, wanted, options.actor))
  }

  why(ref: reading.TaskRef): Promise<Why> {
    return snapshot(this.#pool, async (db) => whyOf(db, await reading.read(db, ref)))
  }

  /** The task with why it is as it is, its neighbours and its attempts, all of one moment. */
  look(ref: reading.TaskRef): Promise<Look> {
    return snapshot(this.#pool, (db) => look(db, ref))
  }

  history(id: string): Promise<reading.HistoryEntry[]> {
    return reading.history(this.#pool, id)
  }

  attempts(id: string, options: reading.AttemptsOptions = {}): Promise<reading.Attempt[]> {
    return reading.attempts(this.#pool, id, options)
  }

  /** Whether the attempt with this epoch runs. */
  isUnderWay(id: string, epoch: number): Promise<boolean> {
    return reading.isUnderWay(this.#pool, id, epoch)
  }

  /** Whether the attempt with this epoch may commit. `lost`: that is not decided yet. */
  leaseOf(id: string, epoch: number): Promise<'held' | 'lost' | 'gone'> {
    return reading.leaseOf(this.#pool, id, epoch)
  }

  requirements(id: string): Promise<(reading.Neighbour & { isMet: boolean })[]> {
    return reading.requirements(this.#pool, id)
  }

  dependents(id: string): Promise<reading.Neighbour[]> {
    return reading.dependents(this.#pool, id)
  }

  cancel(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.EndOptions): Promise<void> {
    return this.#nudging(act.cancel(this.#pool, refs, options))
  }

  retry(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.ActOptions): Promise<void> {
    return this.#nudging(act.retry(this.#pool, refs, options))
  }

  rerun(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.ActOptions): Promise<void> {
    return this.#nudging(act.rerun(this.#pool, refs, options))
  }

  rerunAll(kind: string, options?: act.RerunAllOptions): Promise<number> {
    return this.#nudging(act.rerunAll(this.#pool, kind, options))
  }

  hold(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.ActOptions): Promise<void> {
    return this.#nudging(act.hold(this.#pool, refs, options))
  }

  release(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.ActOptions): Promise<void> {
    return this.#nudging(act.release(this.#pool, refs, options))
  }

  prioritize(
    refs: reading.TaskRef | readonly reading.TaskRef[],
    priority: number,
    options?: act.ActOptions,
  ): Promise<void> {
    return this.#nudging(act.prioritize(this.#pool, refs, priority, options))
  }

  skip(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.EndOptions): Promise<void> {
    return this.#nudging(act.skip(this.#pool, refs, options))
  }

  /** Does the same to all tasks that a search finds, when they are as many as the caller believes. */
  actOnMany(verb: BulkVerb, options: BulkOptions): Promise<BulkResult> {
    return actOnMany(this, verb, options)
  }

  succeed(refs: reading.TaskRef | readonly reading.TaskRef[], options?: act.ActOptions): Promise<void> {
    return this.#nudging(act.succeed(this.#pool, refs, options))
  }

  /**
   * Calls `onEvents` with everything that happens to tasks, in order and each once, from a position on: by default from
   * now on. Stop with `unsubscribe` of the answer.
   */
  subscribe(options: SubscribeOptions, onEvents: (batch: EventBatch) => void | Promise<void>): Promise<Subscription> {
    return this.#hub.subscribe(options, onEvents)
  }

  /** Events that are kept, after a position. Throws `PositionGone`. */
  async events(options: ReadEventsOptions): Promise<EventPage> {
    // While nobody subscribes, what was committed has no numbers yet.
    await sequence(this.#pool)
    return readEvents(this.#pool, options)
  }

  /** Tells subscribers of something: at once, or if and when the transaction of `client` commits. */
  publish(event: ApplicationEvent, options: { client?: Db } = {}): Promise<void> {
    return this.#nudging(publish(options.client ?? this.#pool, event))
  }

  /** Subscribers here need not wait for the next look. */
  async #nudging<T>(change: Promise<T>): Promise<T> {
    const answer = await change
    this.#hub.nudge()
    return answer
  }

  /** Deletes finished tasks by a retention rule. Never touches what is unfinished, or what unfinished work depends on. */
  prune(options: PruneOptions): Promise<number> {
    return prune(this.#pool, options)
  }

  /** Looks for tasks that break a promise of the engine; an empty list is health. */
  async verify(): Promise<{ task: string | null; problem: string }[]> {
    return verify(unhurried(this.#pool), {})
  }

  /** Starts performing tasks of these workers' kinds. */
  dispatch(
    workers: readonly AnyWorker[],
    given: DispatchOptions = {},
  ): Dispatcher & { readonly started: Promise<void> } {
    const options = { ...given, onError: given.onError ?? ((error: Error) => process.emitWarning(error)) }
    const databaseUrl = this.#databaseUrl
    const control = createPool({ databaseUrl, max: 4, applicationName: 'millrace dispatch', answerMs: MOST_PATIENT_MS })
    const heartbeat = heartbeatPool(databaseUrl, options.leaseSeconds)
    const loop = new DispatcherLoop(
      {
        pool: this.#pool,
        control,
        heartbeat,
        names: this.#names,
        listen: (onWake, onCancel) =>
          listen({
            databaseUrl,
            channels: ['millrace', 'millrace_cancel'],
            notify: (channel) => notify(control, { channel }),
            onNotification: (channel, payload) => (channel === 'millrace' ? onWake() : onCancel(payload)),
            onConnect: onWake,
          }),
        onChange: () => this.#hub.nudge(),
        retention: this.#retention,
      },
      workers,
      options,
    )
    this.#dispatchers.add(loop)
    const started = loop.start()
    started.catch((error: Error) => {
      options.onError(error)
      // What could not start keeps no lease, connection or timer.
      loop.stop().catch(() => {})
    })
    return Object.assign(loop, { started })
  }

  /** Stops the dispatchers and closes the connections. */
  async close(): Promise<void> {
    await Promise.all([this.#hub.close(), ...[...this.#dispatchers].map((dispatcher) => dispatcher.stop())])
    await Promise.all([this.#pool.end(), this.#lookups.end()])
  }
}
