import type { Pool } from '../db/index.ts'
import type { AnyWorker, Millrace } from '../engine/index.ts'
import type { Outbound } from '../outbound/index.ts'

/** What the verbs of webhooks work with. */
export type Context = {
  readonly pool: Pool
  readonly millrace: Millrace
  readonly outbound: Outbound
  /** Sends deliveries. */
  readonly worker: AnyWorker
}
