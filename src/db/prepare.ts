import { type Db, isDirect, type Pool } from './pool.ts'

const preparing = new WeakSet<Db>()

/**
 * Lets statements run prepared on this pool when its connections lead straight to the server. Behind a proxy that gives
 * each transaction another server connection a prepared statement would be missing or another one's.
 */
export async function prepareWhereDirect(pool: Pool): Promise<void> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    if (isDirect(client, rows[0]?.pid)) preparing.add(pool)
    client.release()
  } catch (error) {
    client.release(error as Error)
    throw error
  }
}

/** Statements on the client may be prepared when they may on its pool. */
export function prepareLike(client: Db, pool: Db): void {
  if (preparing.has(pool)) preparing.add(client)
}

export const isPreparing = (db: Db): boolean => preparing.has(db)
