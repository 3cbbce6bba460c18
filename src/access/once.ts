// Requests that may be repeated without harm. Effect, answer and the key they belong to commit in one transaction: there
// is no moment in which one is there without the others.
import { type Client, type Pool, transaction } from '../db/index.ts'
import { IdempotencyBusy, IdempotencyMismatch } from './errors.ts'
import { findFirstAnswer, keepFirstAnswer, tryLockKey } from './first-answers.sql.ts'

/** A transaction that the caller does not end. */
export type Tx = Client

/** What makes a request the same as another. */
export type RequestKey = {
  /** The caller's Idempotency-Key. */
  readonly key: string
  /** Keys of different callers have nothing to do with each other. */
  readonly actor: string
  /** A digest of all that is asked for. */
  readonly fingerprint: Buffer
}

export type KeptAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON; empty for no body. */
  readonly body: string
}

export type Once = <T>(
  key: RequestKey | undefined,
  work: (tx: Tx) => Promise<T>,
  /** The answer to give to repetitions. */
  keep: (done: T) => KeptAnswer,
) => Promise<{ readonly done: T } | { readonly replayed: KeptAnswer }>

/**
 * Runs `work` in a transaction. With a key that was answered within 24 hours `work` does not run, and the first
 * answer is given again; what threw left no trace and runs anew. Throws `IdempotencyBusy` while the first
 * request is under way and `IdempotencyMismatch` when the key was used for something else.
 */
export const onceIn =
  (pool: Pool): Once =>
  (key, work, keep) =>
    transaction(pool, async (tx) => {
      if (key === undefined) return { done: await work(tx) }
      const { is_mine: isMine } = await tryLockKey(tx, key)
      if (!isMine) throw new IdempotencyBusy(key.key)
      const first = await findFirstAnswer(tx, key)
      if (first !== undefined) {
        if (!key.fingerprint.equals(first.fingerprint)) throw new IdempotencyMismatch(key.key)
        return { replayed: { ...first, headers: first.headers as Record<string, string> } }
      }
      const done = await work(tx)
      const { headers, ...answer } = keep(done)
      await keepFirstAnswer(tx, { ...key, ...answer, headers: JSON.stringify(headers) })
      return { done }
    })
