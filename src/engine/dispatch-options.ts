import { hostname } from 'node:os'
import type { Listener, Pool } from '../db/index.ts'
import { InvalidOption } from './errors.ts'
import type { Names } from './names.ts'
import type { OutboxRetention } from './outbox.ts'

export type DispatchOptions = {
  /** Tasks performed at once. Default: 10. */
  readonly concurrency?: number
  /** Queues to take tasks from, at least one. Default: each worker's own. */
  readonly queues?: readonly string[]
  /** How long a silent dispatcher keeps its tasks. Default: 30. */
  readonly leaseSeconds?: number
  /** Tasks claimed beyond the free places, at most, while they are short and there are many. Default: 800. */
  readonly prefetch?: number
  /**
   * Scopes share the free places: a place goes to the most urgent task, then to the scope of which this dispatcher runs the
   * fewest. It claims no more than it has places for (`prefetch` is 0), so it suits long tasks. Default: false.
   */
  readonly fair?: boolean
  /** Deaths of a dispatcher after which a task that ran there fails. Default: 5. */
  readonly maxDeaths?: number
  /** How long `stop` waits for running tasks before it hands them back. Default: 30. */
  readonly stopSeconds?: number
  /** Shown in the list of dispatchers. Default: host and process. */
  readonly name?: string
  /** Of the program, for the list of dispatchers. */
  readonly version?: string
  /** Told when somebody has asked it to drain, and it has nothing left. */
  readonly onDrained?: () => void
  readonly onLog?: (entry: { task: string; kind: string; message: string; fields: Record<string, unknown> }) => void
  /** Called with faults that no task can be blamed for; the dispatcher goes on. Default: emits a warning of the process. */
  readonly onError?: (error: Error) => void
}

export type Settings = Required<Omit<DispatchOptions, 'queues' | 'version' | 'onDrained' | 'onLog' | 'onError'>> &
  DispatchOptions & { readonly stepsAtOnce: number }

const MOST_STEPS_AT_ONCE = 2

/** The options with their defaults. Throws `InvalidOption` for what cannot be used. */
export function toSettings(options: DispatchOptions): Settings {
  const { concurrency = 10, leaseSeconds = 30, maxDeaths = 5, stopSeconds = 30, fair = false } = options
  const prefetch = fair ? 0 : (options.prefetch ?? 800)
  // Two claims at once would not know of each other, and both give a place to the same scope.
  const stepsAtOnce = fair ? 1 : MOST_STEPS_AT_ONCE
  const check = (name: string, value: number, isGood: boolean) => {
    if (!isGood) throw new InvalidOption(`${name} cannot be ${value}`)
  }
  check('concurrency', concurrency, Number.isInteger(concurrency) && concurrency >= 1)
  check('leaseSeconds', leaseSeconds, leaseSeconds > 0 && leaseSeconds < 86_400)
  check('prefetch', prefetch, Number.isInteger(prefetch) && prefetch >= 0)
  check('maxDeaths', maxDeaths, Number.isInteger(maxDeaths) && maxDeaths >= 1)
  check('stopSeconds', stopSeconds, stopSeconds >= 0 && stopSeconds < 86_400)
  checkQueues(options.queues)
  const name = options.name ?? `${hostname()}:${process.pid}`
  return { ...options, concurrency, leaseSeconds, prefetch, maxDeaths, stopSeconds, fair, stepsAtOnce, name }
}

export function checkQueues(queues: readonly string[] | undefined): void {
  if (queues?.length === 0)
    throw new InvalidOption("queues cannot be empty: name some, or leave it out for the workers' own")
}

export type Dispatcher = {
  /** The incarnation: changes when the lease was lost and taken anew. */
  readonly id: number
  /** Resolves when nothing is running and nothing is ready for it. */
  idle(): Promise<void>
  /** Stops claiming, hands back what was not begun, waits for what runs, and hands that back too when it takes too long. */
  stop(): Promise<void>
}

/** What a dispatcher works with. */
export type DispatcherParts = {
  /** For callbacks and whatever else takes its time. */
  readonly pool: Pool
  /** For claiming and what belongs to it, so that no callback can keep it waiting. */
  readonly control: Pool
  /** For the heartbeat alone, which must not wait for a claim on a connection that fell silent. */
  readonly heartbeat: Pool
  readonly names: Names
  readonly listen: (onWake: () => void, onCancel: (holder: string) => void) => Listener
  /** Told of every commit that changed tasks: there may be events to be read. */
  readonly onChange: () => void
  readonly retention: OutboxRetention
}
