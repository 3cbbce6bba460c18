import { isConnectionLost, isRetryable, isStoodStill } from '../db/index.ts'
import type { AnyWorker, Backoff, ErrorCategory } from './worker.ts'

export type WorkErrorOptions = {
  readonly cause?: unknown
  readonly retryAfterSeconds?: number
  /** Facts for programs, kept with the error as JSON. */
  readonly data?: unknown
}

/** An error whose meaning for the task is known. */
export class WorkError extends Error {
  readonly category: ErrorCategory
  readonly retryAfterSeconds: number | undefined
  readonly data: unknown
  constructor(category: ErrorCategory, message: string, options: WorkErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.data = options.data
    this.name = new.target.name
    this.category = category
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** May go away by itself: the task is performed again after a pause. */
export class TransientError extends WorkError {
  constructor(message: string, options?: WorkErrorOptions) {
    super('transient', message, options)
  }
}

/** Will not go away by itself: the task fails at once. */
export class PermanentError extends WorkError {
  constructor(message: string, options?: WorkErrorOptions) {
    super('permanent', message, options)
  }
}

/** Is worth recording and nothing more: the task counts as succeeded. */
export class AdvisoryError extends WorkError {
  constructor(message: string, options?: WorkErrorOptions) {
    super('advisory', message, options)
  }
}

/**
 * What a thrown value means: the worker's own word first, then the error's, then the list of database errors
 * that pass by themselves; anything else is a fault that trying again will not mend.
 */
export function toWorkError(worker: AnyWorker, thrown: unknown): WorkError {
  const message = messageOf(thrown)
  let own: ErrorCategory | undefined
  try {
    own = worker.classify?.(thrown)
  } catch (error) {
    return new PermanentError(`classifying the error failed: ${messageOf(error)}; the error was: ${message}`)
  }
  if (thrown instanceof WorkError && (own === undefined || own === thrown.category)) return thrown
  const passes = isRetryable(thrown) || isConnectionLost(thrown) || isStoodStill(thrown)
  const category = own ?? (passes ? 'transient' : 'permanent')
  const error = new WorkError(category, message, {
    cause: thrown,
    ...(thrown instanceof WorkError && thrown.retryAfterSeconds !== undefined
      ? { retryAfterSeconds: thrown.retryAfterSeconds }
      : {}),
  })
  if (thrown instanceof Error) {
    error.name = thrown.name
    if (thrown.stack !== undefined) error.stack = thrown.stack
  }
  return error
}

/** What a thrown value says, whatever it is. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'a value that cannot be written as text'
  }
}

const LONGEST_MESSAGE = 50_000
const LONGEST_STACK = 20_000

/** What errors of the system and the database say beside their message. */
type Facts = { readonly code?: unknown; readonly detail?: unknown; readonly where?: unknown }

/** The error as it is kept with the attempt. */
export function describeError(error: WorkError): Record<string, unknown> {
  const facts = { ...(error as Facts), ...(error.cause as Facts | undefined) }
  const told = (['code', 'detail', 'where'] as const).flatMap((name) => {
    const value = facts[name]
    return typeof value === 'string' ? [[name, keepable(value)]] : []
  })
  return {
    category: error.category,
    name: keepable(error.name),
    message: keepable(error.message),
    ...Object.fromEntries(told),
    ...(error.data === undefined ? {} : { data: error.data }),
    ...(error.stack === undefined ? {} : { stack: keepable(error.stack, LONGEST_STACK) }),
  }
}

/** PostgreSQL's JSON takes neither NUL characters nor halves of surrogate pairs, and nobody reads megabytes of message. */
export function keepable(text: string, longest = LONGEST_MESSAGE): string {
  const clean = text.slice(0, longest).replace(/\p{Surrogate}|\0/gu, '\uFFFD')
  return text.length <= longest ? clean : `${clean} … (${text.length - longest} more characters)`
}

const DEFAULT_BACKOFF: Backoff = { firstSeconds: 1, factor: 2, maxSeconds: 3600 }

/** Seconds to wait after the given number of failures: exponential, with jitter so that a herd spreads out. */
export function backoffSeconds(worker: AnyWorker, error: WorkError, failures: number, random = Math.random): number {
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds
  const { firstSeconds, factor, maxSeconds } = { ...DEFAULT_BACKOFF, ...worker.backoff }
  const full = Math.min(maxSeconds, firstSeconds * factor ** failures)
  return full * (0.5 + random() / 2)
}
