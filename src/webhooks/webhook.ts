import type { TaskEvent } from '../engine/index.ts'

/** Someone outside who is told of events. */
export type Webhook = {
  readonly id: string
  readonly createdAt: Date
  readonly createdBy: string
  /** Raised by every change that a person makes. */
  readonly version: number
  readonly url: string
  readonly description: string
  /** Empty: all. One that ends in `*` takes all that begin so. */
  readonly scopes: readonly string[]
  /** Empty: all. */
  readonly names: readonly string[]
  readonly isEnabled: boolean
  readonly disabledAt: Date | null
  readonly disabledBecause: string | null
  /** The first failure after the last success. */
  readonly failingSince: Date | null
  /** Until then the secret before the last rotation signs as well. */
  readonly oldSecretUntil: Date | null
}

/** One event for one webhook. */
export type Delivery = {
  readonly id: string
  readonly messageId: string
  /** The position of the event; null for a test, and for the notice that events were missed. */
  readonly event: string | null
  readonly name: string
  readonly state: 'pending' | 'succeeded' | 'failed'
  readonly createdAt: Date
  readonly endedAt: Date | null
  /** When it is sent again; null when it is not, or at once. */
  readonly nextAt: Date | null
  /** The task that sends it. */
  readonly task: string | null
  readonly attempts: readonly Attempt[]
}

/** One sending of a delivery. */
export type Attempt = {
  readonly number: number
  readonly at: Date
  readonly durationMs: number
  /** Null: no answer came. */
  readonly status: number | null
  /** Null: the receiver took it. */
  readonly error: string | null
  /** The first bytes of what the receiver said. */
  readonly answer: string | null
}

/** The line of tasks that a webhook's deliveries are. */
export const scopeOf = (webhook: string) => `webhook:${webhook}`

/**
 * Whether a webhook is told of an event. What happens to deliveries is never told: each would be a delivery of its own,
 * without end.
 */
export function isWanted(event: TaskEvent, { scopes, names }: Pick<Webhook, 'scopes' | 'names'>): boolean {
  if (event.scope.startsWith(scopeOf(''))) return false
  if (names.length > 0 && !names.includes(event.name)) return false
  return scopes.length === 0 || scopes.some((scope) => isWithinScope(event.scope, scope))
}

const isWithinScope = (scope: string, pattern: string) =>
  pattern.endsWith('*') ? scope.startsWith(pattern.slice(0, -1)) : scope === pattern
