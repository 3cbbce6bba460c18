import type { Millrace } from '../engine/index.ts'
import { type NodeId, SCOPE } from './node.ts'

/** What happened to nodes since the last call. */
export type Happened = {
  /** Nodes whose task changed. */
  readonly nodes: ReadonlySet<NodeId>
  readonly isAdded: boolean
  /** Something may have been missed: look at everything. */
  readonly isReset: boolean
}

type Hear = (happened: Happened) => void

const LINGER_MS = 5_000

/**
 * Tells any number of waiting requests what happens to nodes, by one subscription for all of them, which is only there
 * while somebody waits.
 */
export class NodeWatch {
  readonly #events: Pick<Millrace, 'subscribe'>
  readonly #hearers = new Set<Hear>()
  #subscribed: Promise<{ unsubscribe(): unknown }> | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(events: Pick<Millrace, 'subscribe'>) {
    this.#events = events
  }

  /** How many wait just now. */
  get size(): number {
    return this.#hearers.size
  }

  /** Once this resolves, `hear` is told of everything that commits later. Answers the function that ends it. */
  async join(hear: Hear): Promise<() => void> {
    clearTimeout(this.#lingering)
    this.#hearers.add(hear)
    const leave = () => {
      this.#hearers.delete(hear)
      if (this.#hearers.size > 0) return
      clearTimeout(this.#lingering)
      this.#lingering = setTimeout(() => this.#end(), LINGER_MS).unref()
    }
    try {
      this.#subscribed ??= this.#subscribe()
      await this.#subscribed
    } catch (error) {
      this.#subscribed = undefined
      leave()
      throw error
    }
    return leave
  }

  #subscribe(): Promise<{ unsubscribe(): unknown }> {
    return this.#events.subscribe({ filter: { scope: SCOPE } }, ({ events, isReset }) => {
      const happened = {
        nodes: new Set(events.flatMap(({ key }) => (key === null ? [] : [key]))),
        isAdded: events.some(({ name }) => name === 'created'),
        isReset,
      }
      for (const hear of this.#hearers) hear(happened)
    })
  }

  #end(): void {
    const subscribed = this.#subscribed
    this.#subscribed = undefined
    subscribed?.then((subscription) => subscription.unsubscribe()).catch(() => {})
  }

  close(): void {
    clearTimeout(this.#lingering)
    this.#end()
  }
}

/** Gathers what happens between two looks. */
export class Gathering {
  #nodes = new Set<NodeId>()
  #isAdded = false
  #isReset = false
  #wake: () => void = () => {}

  readonly hear: Hear = ({ nodes, isAdded, isReset }) => {
    for (const node of nodes) this.#nodes.add(node)
    this.#isAdded ||= isAdded
    this.#isReset ||= isReset
    this.#wake()
  }

  /** Resolves when something happened, when the time is over or when the signal aborts; never throws. */
  async next(ms: number, signal: AbortSignal): Promise<Happened> {
    if (!this.#hasSome && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        const end = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          resolve()
        }
        signal.addEventListener('abort', end)
        this.#wake = end
      })
      this.#wake = () => {}
    }
    const happened = { nodes: this.#nodes, isAdded: this.#isAdded, isReset: this.#isReset }
    this.#nodes = new Set()
    this.#isAdded = false
    this.#isReset = false
    return happened
  }

  get #hasSome(): boolean {
    return this.#nodes.size > 0 || this.#isAdded || this.#isReset
  }
}
