import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Client, type Db, type Pool, setPatience } from './pool.ts'
import { prepareLike } from './prepare.ts'

// serialization_failure, deadlock_detected, lock_not_available: the transaction left no trace and may run again.
const RETRYABLE = new Set(['40001', '40P01', '55P03'])

// Conditions under which the server went away: connection exceptions, admin_shutdown, crash_shutdown,
// cannot_connect_now, database shutdown, too_many_connections.
const LOST_STATE = /^(08...|57P0[1-5]|53300)$/
const LOST_SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])
const LOST_MESSAGE =
  /connection terminated|connection timeout|query read timeout|timeout exceeded when trying to connect|timeout expired|server closed the connection|not queryable/i

const MAX_ROUNDS = 8

/** The server aborted the transaction as a whole; running it again is safe and likely to succeed. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(codeOf(error))
}

/** The transaction stood still for longer than it may, and the server ended it together with its connection. */
export function isStoodStill(error: unknown): boolean {
  return codeOf(error) === '25P03'
}

/** The connection broke or could not be made: whether a commit under way took effect is unknown. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error)
  return LOST_STATE.test(code) || LOST_SYSTEM.has(code) || (error instanceof Error && LOST_MESSAGE.test(error.message))
}

const LATE_STATE = new Set(['57014', '25P03']) // query_canceled, idle_in_transaction_session_timeout
const LATE_MESSAGE = /query read timeout|timeout exceeded when trying to connect|connection timeout|timeout expired/i

/** A limit was reached: of a statement, of the wait for a connection, or of a transaction that stood still. */
export const isLate = (error: unknown): boolean =>
  LATE_STATE.has(codeOf(error)) || (error instanceof Error && LATE_MESSAGE.test(error.message))

/** Nothing is wrong with what was asked: the same may be answered when it is asked again. */
export const isPassing = (error: unknown): boolean => isConnectionLost(error) || isRetryable(error)

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

export type TransactionOptions = {
  /**
   * How long one statement may take, instead of the pool's limit. The first and the last one keep the pool's: a connection
   * that has been silent is found out in no more time than elsewhere.
   */
  readonly statementMs?: number
  /** How long the client waits for an answer, where that is less. */
  readonly answerMs?: number
}

/** For statements that change or read as much as there is: migrations, copies, retention, an index, a callback's own. */
export const LONG_MS = 600_000
/** For what a request does to any number of rows while its caller waits. */
export const MANY_MS = 60_000

/**
 * Runs `body` in one transaction on a connection of its own. A transaction that the server aborted
 * for a conflict runs again, so `body` must keep its effects in the database. Any other error rolls
 * back and is thrown.
 */
export async function transaction<T>(
  pool: Pool,
  body: (tx: Client) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await attempt(pool, 'begin isolation level read committed', body, options)
    } catch (error) {
      if (!isRetryable(error) || round === MAX_ROUNDS) throw error
      await sleep(Math.random() * 4 * 2 ** round)
    }
  }
}

/** Runs `body`, which only reads, so that all its reads see the database as it was at one moment. */
export function snapshot<T>(
  pool: Pool,
  body: (tx: Client) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  return attempt(pool, 'begin isolation level repeatable read, read only', body, options)
}

/** The client of a transaction, with as much patience for an answer as `LONG_MS`. */
export function patient(client: Client): Db {
  const db: Db = { query: (statement) => client.query({ ...statement, query_timeout: LONG_MS } as pg.QueryConfig) }
  prepareLike(db, client)
  return db
}

/** Runs each statement in a transaction of its own, for as long as `LONG_MS`. */
export const unhurried = (pool: Pool): Db => ({
  query: (statement) => transaction(pool, (tx) => tx.query(statement), { statementMs: LONG_MS }),
})

async function attempt<T>(
  pool: Pool,
  begin: string,
  body: (tx: Client) => Promise<T>,
  { statementMs, answerMs = statementMs }: TransactionOptions,
): Promise<T> {
  // Errors of a checked-out client are also emitted; unheard they would end the process.
  let broken: Error | undefined
  const hear = (error: Error) => {
    broken ??= error
  }
  const client = await checkOut(pool, hear)
  prepareLike(client, pool)
  try {
    await client.query(statementMs === undefined ? begin : `${begin}; ${patience(statementMs)}`)
    if (answerMs !== undefined) setPatience(client, answerMs)
    const result = await body(client)
    setPatience(client, pool.options.query_timeout)
    await client.query('commit')
    return result
  } catch (error) {
    setPatience(client, pool.options.query_timeout)
    try {
      await client.query('rollback')
    } catch (rollbackError) {
      broken ??= rollbackError as Error
    }
    // The query after it was only told that the connection is gone.
    throw isStoodStill(broken) ? broken : error
  } finally {
    setPatience(client, pool.options.query_timeout)
    client.removeListener('error', hear)
    client.release(broken)
  }
}

const STANDSTILL_MS = 120_000 // of work between two statements

const patience = (statementMs: number) =>
  `set local statement_timeout = ${statementMs}; set local idle_in_transaction_session_timeout = ${STANDSTILL_MS}`

/**
 * Takes a client and listens to its errors from the very moment on: a server that shuts down may say so in the same
 * packet that makes the client usable, before anyone who waits for the promise gets to run.
 */
function checkOut(pool: Pool, hear: (error: Error) => void): Promise<Client> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) return reject(error ?? new Error('the pool answered no client'))
      client.on('error', hear)
      return resolve(client)
    })
  })
}

/** Runs `body` inside a savepoint of the transaction `tx`: when it throws, only its writes are undone. */
export async function savepoint<T>(tx: Db, body: () => Promise<T>): Promise<T> {
  await tx.query({ text: 'savepoint millrace_callback' })
  try {
    const result = await body()
    await tx.query({ text: 'release savepoint millrace_callback' })
    return result
  } catch (error) {
    await tx.query({ text: 'rollback to savepoint millrace_callback' })
    throw error
  }
}
