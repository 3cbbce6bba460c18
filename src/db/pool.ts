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
  /** How long one statement may take before its connection is given up. Default: 10 seconds. */
  answerMs?: number
  /** How long to wait for a connection, a free one or a new one. Default: 10 seconds. */
  connectMs?: number
  /** An idle connection stays open: the next statement must not depend on there being room for one. */
  isKept?: boolean
  /** Called when an idle connection breaks; the pool replaces it by itself. */
  onError?: (error: Error) => void
}

export const ANSWER_MS = 10_000
const WAIT_MS = 10_000
/** A new connection. Less than a statement, so that those who queue behind a failed attempt have time for another. */
export const CONNECT_MS = 5_000
/** After so long without traffic the system asks whether the peer is there. */
export const KEEP_ALIVE_MS = 10_000
/**
 * The server stops a statement a little after its client gave it up, and ends a transaction that stands still for as long:
 * what was given up keeps no locks.
 */
const LATER_MS = 5_000

/**
 * A session of ours gets its settings, in one round trip: limits, and the isolation that statements outside of a
 * `transaction` need. Behind a pooler the session is shared with others, and must be left as it is.
 */
async function prepareSession(client: pg.ClientBase, answerMs: number): Promise<void> {
  const limitMs = answerMs + LATER_MS
  const { rows } = await client.query<{ isolation: string }>({
    text: `
      select case when is_direct then set_config('default_transaction_isolation', 'read committed', false)
          else current_setting('default_transaction_isolation') end as isolation,
        case when is_direct then set_config('statement_timeout', '${limitMs}', false) end,
        case when is_direct then set_config('idle_in_transaction_session_timeout', '${limitMs}', false) end,
        case when is_direct then set_config('tcp_user_timeout', '${2 * KEEP_ALIVE_MS}', false) end
      from (select pg_backend_pid() = ${processOf(client) ?? 0} as is_direct) as session`,
    query_timeout: Math.min(CONNECT_MS, answerMs),
  } as pg.QueryConfig)
  const { isolation = '' } = rows[0] ?? {}
  if (isolation === 'repeatable read' || isolation === 'serializable') throw new IsolationUnusable(isolation)
}

// What the types of the driver leave out of a client.
const processOf = (client: pg.ClientBase) => (client as { processID?: number }).processID
/** Without a goodbye: a silent peer would have to answer it. */
export const closeNow = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()

/** Sets how long the client waits for each answer; the server has a limit of its own. */
export function setPatience(client: pg.ClientBase, ms: number | undefined): void {
  type Parameters = { connectionParameters: { query_timeout?: number | undefined } }
  const of = client as unknown as Parameters
  of.connectionParameters.query_timeout = ms
}

/** The pool, with less patience for an answer. */
export const within = (pool: Pool, answerMs: number): Db => ({
  query: (statement) => pool.query({ ...statement, query_timeout: answerMs } as pg.QueryConfig),
})

/** A proxy makes up the process id that it tells its clients; the server itself tells the one that it answers to. */
export const isDirect = (client: pg.ClientBase, pid: number | undefined): boolean => pid === processOf(client)

/** The server has not answered a statement: whether it was carried out is unknown, and the connection is of no use. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** The driver would keep a connection that did not answer, and let each further statement on it wait as long again. */
function clientClass(connectionTimeoutMillis: number, onSilence: () => void) {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis })
      const query = this.query.bind(this) as (...given: unknown[]) => unknown
      const leaving = (...given: unknown[]) => {
        const answer = query(...given)
        if (answer instanceof Promise) answer.catch((error) => this.#leaveIfSilent(error))
        return answer
      }
      Object.assign(this, { query: leaving })
    }

    #leaveIfSilent(error: unknown): void {
      if (!isSilence(error)) return
      closeNow(this)
      onSilence()
    }
  }
}

/** Idle connections by pool: once one connection to a server is silent, the others to it probably are. */
const idle = new Map<Pool, { readonly databaseUrl: string; readonly clients: Set<Client> }>()

function watchIdle(pool: Pool, databaseUrl: string): void {
  for (const known of idle.keys()) if (known.ended) idle.delete(known)
  const clients = new Set<Client>()
  idle.set(pool, { databaseUrl, clients })
  pool.on('acquire', (client) => clients.delete(client))
  pool.on('remove', (client) => clients.delete(client))
  pool.on('release', (error, client) => {
    if (!error) clients.add(client)
  })
}

/** The next statements make new connections, instead of waiting in turn for each that is silent. */
function leaveAll(databaseUrl: string): void {
  for (const [pool, of] of idle) {
    if (of.databaseUrl !== databaseUrl) continue
    for (const client of of.clients) {
      // At once, so that no statement takes it in between.
      ;(pool as unknown as { _remove(client: Client): void })._remove(client)
      closeNow(client)
    }
    of.clients.clear()
  }
}

/**
 * A connection pool that survives a restart of the server, and a server that falls silent: broken and silent connections
 * are replaced, and nothing waits for them longer than the limits say.
 */
export function createPool(options: PoolOptions): Pool {
  const { databaseUrl, answerMs = ANSWER_MS, connectMs = WAIT_MS } = options
  // A kept connection has short limits of its own, and is not given up for the silence of others.
  const onSilence = options.isKept ? () => {} : () => leaveAll(databaseUrl)
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max ?? 10,
    application_name: options.applicationName ?? 'millrace',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: answerMs,
    connectionTimeoutMillis: connectMs,
    ...(options.isKept ? { idleTimeoutMillis: 0 } : {}),
    Client: clientClass(Math.min(CONNECT_MS, connectMs), onSilence),
    // Waited for, whatever the driver's types say.
    onConnect: ((client: pg.ClientBase) => prepareSession(client, answerMs)) as (client: pg.ClientBase) => void,
  } as pg.PoolConfig)
  // Without a listener an idle connection that the server closes would end the process.
  pool.on('error', (error) => options.onError?.(error))
  if (!options.isKept) watchIdle(pool, databaseUrl)
  // `pool.query` takes no promise of its client: its failures are seen here.
  pool.on('release', (error) => isSilence(error) && onSilence())
  return pool
}
