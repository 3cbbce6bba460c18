import { setTimeout as sleep } from 'node:timers/promises'
import { unhurried } from '../db/index.ts'
import type { Subscription } from '../engine/index.ts'
import type { Context } from './context.ts'
import { DELIVER } from './deliver.ts'
import { pruneDeliveries } from './deliveries.sql.ts'
import { planDeliveries } from './plan.ts'
import { isAnyEnabled } from './webhooks.sql.ts'

const LOOK_MS = 5_000 // for webhooks that another server has made
const PAUSE_MS = 1_000
const PRUNE_MS = 3_600_000
const KEPT_DAYS = 30
const PRUNED_AT_ONCE = 1_000

/** Turns events into deliveries as they happen, until it is stopped. */
export class Planner {
  readonly #context: Context
  readonly #onError: (error: Error) => void
  readonly #stopped = new AbortController()
  #wake: () => void = () => {}
  #running: Promise<void> | undefined
  #subscription: Subscription | undefined
  #prunedAt = 0

  constructor(context: Context, onError: (error: Error) => void) {
    this.#context = context
    this.#onError = onError
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Looks at once: a webhook was made or changed here. */
  wake(): void {
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      const woken = this.#nextWake()
      try {
        await this.#listen()
        while (!signal.aborted && (await planDeliveries(this.#context)));
        await this.#prune()
        await woken
      } catch (error) {
        this.#wake()
        this.#onError(error as Error)
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
      }
    }
    this.#subscription?.unsubscribe()
  }

  /** Follows events while there is somebody to tell of them. */
  async #listen(): Promise<void> {
    const { pool, millrace } = this.#context
    const { is_any: isAny } = await isAnyEnabled(pool, {})
    if (!isAny) {
      this.#subscription?.unsubscribe()
      this.#subscription = undefined
      return
    }
    // A hint alone: the events are read again, under the lock that makes each a delivery once.
    this.#subscription ??= await millrace.subscribe({}, () => this.#wake())
  }

  /** Resolves at the next event, or when it is time to look anyway. */
  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #prune(): Promise<void> {
    if (Date.now() - this.#prunedAt < PRUNE_MS) return
    this.#prunedAt = Date.now()
    const { pool, millrace } = this.#context
    while (
      (await pruneDeliveries(unhurried(pool), { days: KEPT_DAYS, limit: PRUNED_AT_ONCE })).count === PRUNED_AT_ONCE
    );
    await millrace.prune({ kind: DELIVER, olderThanSeconds: KEPT_DAYS * 86_400 })
  }
}
