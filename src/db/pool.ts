import pg from 'pg'
import { IsolationUnusable } from './unusable.ts'

/**
 * Anything that runs a statement: a pool, a client of it, or a client in a transaction that the
 * caller has begun. A caller's own `pg` client fits.
 */
export type Db = {
  query(statement: {
    name?: string
    text: string
    values?: unknown[]
  }): Promise<{ rows: unknown[]; rowCount?: number | null }>
}

export type Pool = pg.Pool
export type Client = pg.PoolClient

export type PoolOptions = {
  databaseUrl: string
  /** Connections at most. */
  max?: number
  /** Shown in pg_stat_activity. */
  applicationName?: string
  /** How long to wait for an answer before the connection counts as broken. Default: for ever. */
  answerMs?: number
  /** How long a connection may take to be made. Default: 15 seconds. */
  connectMs?: number
  /** An idle connection stays open: the next statement must not depend on there being room for one. */
  isKept?: boolean
  /** Called when an idle connection breaks; the pool replaces it by itself. */
  onError?: (error: Error) => void
}

/**
 * Statements outside of a `transaction` have the default isolation, which a database or role may set to a stricter one.
 * A session of ours sets it back. Behind a pooler the session is shared with others, and must be left as it is.
 */
async function insistReadCommitted(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isolation: string; pid: number }>(
    `select current_setting('default_transaction_isolation') as isolation, pg_backend_pid() as pid`,
  )
  const { isolation = '', pid } = rows[0] ?? {}
  if (isolation !== 'repeatable read' && isolation !== 'serializable') return
  if (!isDirect(client, pid)) throw new IsolationUnusable(isolation)
  await client.query(`set default_transaction_isolation = 'read committed'`)
}

/** A proxy makes up the process id that it tells its clients; the server itself tells the one that it answers to. */
export const isDirect = (client: pg.ClientBase, pid: number | undefined): boolean =>
  pid === (client as { processID?: number }).processID

/** A connection pool that survives a restart of the server: broken connections are replaced. */
export function createPool(options: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    max: options.max ?? 10,
    application_name: options.applicationName ?? 'millrace',
    keepAlive: true,
    ...(options.answerMs === undefined ? {} : { query_timeout: options.answerMs }),
    // Longer than a failover's usual name change, short enough to be told of a wrong address.
    connectionTimeoutMillis: options.connectMs ?? 15_000,
    ...(options.isKept ? { idleTimeoutMillis: 0 } : {}),
    // Waited for, whatever the driver's types say.
    onConnect: insistReadCommitted as (client: pg.ClientBase) => void,
  })
  // Without a listener an idle connection that the server closes would end the process.
  pool.on('error', (error) => options.onError?.(error))
  return pool
}
