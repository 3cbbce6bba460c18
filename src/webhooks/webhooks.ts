import type { Db, Pool } from '../db/index.ts'
import { type AnyWorker, type Attention, type Millrace, sequence } from '../engine/index.ts'
import type { Outbound } from '../outbound/index.ts'
import { attention } from './attention.ts'
import * as changing from './change.ts'
import type { Context } from './context.ts'
import { createDeliver } from './deliver.ts'
import { Planner } from './planner.ts'
import * as reading from './read.ts'
import { resend } from './resend.ts'
import { tryOut } from './try.ts'
import type { Delivery, Webhook } from './webhook.ts'

export type WebhooksOptions = {
  readonly pool: Pool
  readonly millrace: Millrace
  readonly outbound: Outbound
}

/** Tells receivers outside of events, signed, again and again until they take them. */
export class Webhooks {
  readonly #context: Context
  readonly #planners = new Set<Planner>()

  constructor({ pool, millrace, outbound }: WebhooksOptions) {
    const worker = createDeliver(pool, outbound)
    millrace.define(worker)
    this.#context = { pool, millrace, outbound, worker }
  }

  /** Those whose tasks deliveries are: a dispatcher must perform them. */
  get workers(): readonly AnyWorker[] {
    return [this.#context.worker]
  }

  /** Makes deliveries of events as they happen, until the answered function is called. Any number of servers may. */
  start(onError: (error: Error) => void): () => Promise<void> {
    const planner = new Planner(this.#context, onError)
    this.#planners.add(planner)
    planner.start()
    return async () => {
      this.#planners.delete(planner)
      await planner.stop()
    }
  }

  /** Looks at once for what is to be delivered, instead of soon. */
  wake(): void {
    for (const planner of this.#planners) planner.wake()
  }

  /** Receivers that are not told of what happens. */
  attention(): Promise<Attention[]> {
    return attention(this.#context.pool)
  }

  /** The position of what has happened until now. */
  now(): Promise<string> {
    return sequence(this.#context.pool)
  }

  /**
   * In the transaction of `client`, when one is given; `wake` when that has committed. `now` must be asked for before that
   * transaction: whoever holds one connection and waits for another may wait for those who do the same.
   */
  async create(
    fields: changing.WebhookFields & { actor: string },
    given?: { readonly client: Db; readonly after: string },
  ): Promise<Webhook & { secret: string }> {
    const { client, after } = given ?? { client: this.#context.pool, after: await this.now() }
    return changing.create(this.#context, client, { ...fields, after })
  }

  get(id: string): Promise<Webhook> {
    return reading.read(this.#context.pool, id)
  }

  list(page: { readonly after: string; readonly limit: number }): Promise<Webhook[]> {
    return reading.list(this.#context.pool, page)
  }

  async change(id: string, fields: changing.WebhookChange & { actor: string }): Promise<Webhook> {
    const changed = await changing.change(this.#context, id, fields)
    this.wake()
    return changed
  }

  remove(id: string, by: { readonly actor: string; readonly version?: number | undefined }): Promise<void> {
    return changing.remove(this.#context, id, by)
  }

  rotate(id: string, keepSeconds: number): Promise<{ secret: string; oldSecretUntil: Date | null }> {
    return changing.rotate(this.#context, id, keepSeconds)
  }

  tryOut(id: string, actor: string): Promise<Delivery> {
    return tryOut(this.#context, id, actor)
  }

  deliveries(id: string, page: reading.DeliveryList): Promise<Delivery[]> {
    return reading.deliveries(this.#context.pool, id, page)
  }

  resend(id: string, delivery: string, actor: string): Promise<Delivery> {
    return resend(this.#context, id, delivery, actor)
  }
}
