import type { Client, Pool } from '../src/db/index.ts'

/** The channels of what dispatchers are told while `body` runs, on the client that listens or on any other. */
export async function heardDuring(pool: Pool, body: (client: Client) => Promise<unknown>): Promise<string[]> {
  const client = await pool.connect()
  try {
    const heard: string[] = []
    client.on('notification', ({ channel }) => heard.push(channel))
    await client.query('listen millrace')
    await body(client)
    await client.query('listen millrace_cancel') // what had been sent would have arrived with its answer
    return heard
  } finally {
    client.release(true)
  }
}
