// Where the commands of tasks reach the server. Each server keeps its address in the database while it runs; a worker
// reads it there before each command, so that a server that was moved is found.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../db/index.ts'
import { findAddress, publishAddress, withdrawAddress } from './server-address.sql.ts'

const RENEWAL_MS = 15_000
const FRESH_SECONDS = 60

/** The address under which a process on the host of the server reaches it. */
export const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

/** The address for other machines; undefined when the server listens for its own machine alone. */
function farUrl(url: string): string | undefined {
  const { hostname: host, port } = new URL(url)
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)) return undefined
  return /^(0\.0\.0\.0|\[::\])$/.test(host) ? `http://${hostname()}:${port}` : url
}

type Published = { readonly pool: Pool; readonly url: string; readonly onError: (error: unknown) => void }

/** Publishes the address at which the server listens, until the answer is called. */
export async function publish({ pool, url, onError }: Published): Promise<() => Promise<void>> {
  const stopped = new AbortController()
  const { signal } = stopped
  const server = randomUUID()
  const address = { server, host: hostname(), url: reachable(url), far_url: farUrl(url) ?? null }
  await publishAddress(pool, address)
  const run = async () => {
    for (;;) {
      await sleep(RENEWAL_MS, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      await publishAddress(pool, address).catch(onError)
    }
  }
  const running = run()
  return async () => {
    stopped.abort()
    await running
    // Without the database the address expires by itself.
    await withdrawAddress(pool, { server, seconds: FRESH_SECONDS }).catch(() => {})
  }
}

/** Finds the address of the server for a worker on this machine. */
export class ServerAddress {
  readonly #pool: Pool
  readonly #given: string | undefined
  #last: string | undefined

  /** `given`: the setting of the worker, which wins. */
  constructor(pool: Pool, given: string | undefined) {
    this.#pool = pool
    this.#given = given
  }

  /** The address; while no server runs, the one that was found before. Throws `ServerAddressUnknown`. */
  async find(): Promise<string> {
    if (this.#given !== undefined) return this.#given
    const found = await findAddress(this.#pool, { seconds: FRESH_SECONDS })
    if (found === undefined && this.#last !== undefined) return this.#last
    if (found === undefined) throw new ServerAddressUnknown('no server of this database has published its address')
    const url = found.host === hostname() ? found.url : found.far_url
    if (url === null)
      throw new ServerAddressUnknown(`the server on ${found.host} listens at ${found.url}, for its own machine alone`)
    this.#last = url
    return url
  }
}

/** The commands of tasks could not ask the server. */
export class ServerAddressUnknown extends Error {
  readonly code = 'server_address_unknown'
  readonly remedy = 'set MILLRACE_URL (or --server) to the address of the server'
}
