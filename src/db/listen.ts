import pg from 'pg'

export type Listener = {
  /** True while the connection stands and has subscribed; false while it is being made again. */
  readonly isConnected: boolean
  close(): Promise<void>
}

export type ListenOptions = {
  databaseUrl: string
  channels: readonly string[]
  onNotification(channel: string, payload: string): void
  /** Called after each (re)connection: notifications sent meanwhile are lost, so look for yourself. */
  onConnect?(): void
}

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 5_000

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

  const again = (of: pg.Client) => {
    if (client !== of) return
    client = undefined
    isConnected = false
    of.end().catch(() => {})
    if (isClosed) return
    timer = setTimeout(open, delayMs)
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
  }

  const open = () => {
    const fresh = new pg.Client({
      connectionString: options.databaseUrl,
      application_name: 'millrace listen',
      keepAlive: true,
    })
    client = fresh
    fresh.on('error', () => again(fresh))
    fresh.on('end', () => again(fresh))
    fresh.on('notification', (message) => options.onNotification(message.channel, message.payload ?? ''))
    fresh
      .connect()
      .then(async () => {
        for (const channel of options.channels) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
        if (client !== fresh) return
        isConnected = true
        delayMs = FIRST_DELAY_MS
        options.onConnect?.()
      })
      .catch(() => again(fresh))
  }
  open()

  return {
    get isConnected() {
      return isConnected
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      const last = client
      client = undefined
      await last?.end().catch(() => {})
    },
  }
}
