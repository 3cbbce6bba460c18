import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { CONNECT_MS, closeNow, KEEP_ALIVE_MS } from './pool.ts'

export type Listener = {
  /** True while notifications arrive: the connection stands, has subscribed, and has heard one. */
  readonly isConnected: boolean
  /** Resolves once it has subscribed, or failed to for the first time. */
  readonly tried: Promise<void>
  close(): Promise<void>
}

export type ListenOptions = {
  databaseUrl: string
  channels: readonly string[]
  onNotification(channel: string, payload: string): void
  /**
   * Sends an empty notification over another connection. With it the listener makes sure that it hears: a pooler in
   * transaction mode takes the subscription and then delivers to nobody.
   */
  notify?(channel: string): Promise<unknown>
  /** How often the connection is asked for a sign of life. Default: 15 seconds. */
  askEveryMs?: number
  /** Called after each (re)connection: notifications sent meanwhile are lost, so look for yourself. */
  onConnect?(): void
}

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 5_000
const GOODBYE_MS = 1_000
/** It says nothing by itself: without a question its silence would look like one where nothing happens. */
const ASK_EVERY_MS = 15_000

/**
 * Holds one connection that listens, and makes it again whenever it breaks. Notifications are hints:
 * one may be lost or doubled, and callers poll as well.
 */
export function listen(options: ListenOptions): Listener {
  let client: pg.Client | undefined
  let isClosed = false
  let isConnected = false
  let delayMs = FIRST_DELAY_MS
  let timer: NodeJS.Timeout | undefined
  const probe = `millrace_probe_${randomUUID()}`

  const listenToSelf = (of: pg.Client) => {
    if (client !== of || isConnected) return
    options.notify?.(probe).catch(() => {})
    timer = setTimeout(() => listenToSelf(of), LONGEST_DELAY_MS)
  }

  const again = (of: pg.Client) => {
    if (client !== of) return
    client = undefined
    isConnected = false
    clearTimeout(timer)
    void end(of)
    if (isClosed) return
    timer = setTimeout(() => void open(), delayMs)
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
  }

  const open = (): Promise<void> => {
    const fresh = newClient(options.databaseUrl)
    client = fresh
    fresh.on('error', () => again(fresh))
    fresh.on('end', () => again(fresh))
    fresh.on('notification', ({ channel, payload = '' }) => {
      if (channel !== probe) options.onNotification(channel, payload)
      else if (client === fresh) isConnected = true
    })
    return fresh
      .connect()
      .then(async () => {
        for (const channel of [...options.channels, probe]) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
        if (client !== fresh) return
        if (options.notify === undefined) isConnected = true
        else listenToSelf(fresh)
        delayMs = FIRST_DELAY_MS
        askRegularly(fresh, options.askEveryMs ?? ASK_EVERY_MS, () => again(fresh))
        options.onConnect?.()
      })
      .catch(() => again(fresh))
  }
  const tried = open()

  return {
    get isConnected() {
      return isConnected
    },
    tried,
    async close() {
      isClosed = true
      clearTimeout(timer)
      const last = client
      client = undefined
      if (last !== undefined) await end(last)
    },
  }
}

function askRegularly(client: pg.Client, ms: number, onSilence: () => void): void {
  const timer = setInterval(() => void client.query('select').catch(onSilence), ms)
  client.once('end', () => clearInterval(timer))
}

/** A silent peer says no goodbye. */
async function end(client: pg.Client): Promise<void> {
  const late = setTimeout(() => closeNow(client), GOODBYE_MS)
  await client.end().catch(() => {})
  clearTimeout(late)
}

function newClient(databaseUrl: string): pg.Client {
  return new pg.Client({
    connectionString: databaseUrl,
    application_name: 'millrace listen',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
  })
}
