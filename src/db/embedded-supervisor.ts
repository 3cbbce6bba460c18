import { setTimeout as sleep } from 'node:timers/promises'
import { stopOrphans } from './embedded-orphans.ts'
import { type Server, type ServerOptions, startServer, stopServer } from './embedded-server.ts'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000
const MAX_DEATHS = 10 // in a row: about 30 s of trying
const STEADY_MS = 30_000 // a server that ran this long starts a new row

export type Supervisor = {
  readonly pid: number | undefined
  readonly exited: Promise<Error | undefined>
  stop(): Promise<void>
}

/** Starts the server and starts it again, more and more slowly, each time it dies; gives up after ten deaths in a row. */
export async function supervise(options: ServerOptions, onEvent: (message: string) => void): Promise<Supervisor> {
  let server: Server | undefined = await startServer(options)
  let deathCount = 0
  const stopping = new AbortController()

  const restart = async (): Promise<void> => {
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** deathCount, LONGEST_DELAY_MS)
    await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {})
    if (stopping.signal.aborted) return
    // Backends of a killed server may be busy and not have noticed; they keep the next one out.
    await stopOrphans(options.place.cluster)
    server = await startServer(options)
    onEvent('the embedded database runs again')
    // A stop that was asked for while the server was starting found none to stop.
    if (stopping.signal.aborted) await stopServer(server, options.place.cluster)
  }

  const watch = async (): Promise<Error | undefined> => {
    let failure: Error | undefined
    while (deathCount < MAX_DEATHS) {
      const startedAt = Date.now()
      await server?.ended
      server = undefined
      if (stopping.signal.aborted) return undefined
      if (Date.now() - startedAt > STEADY_MS) deathCount = 0
      if (deathCount === 0) onEvent('the embedded database died and is started again')
      await restart().catch((error: Error) => {
        failure = error
        onEvent(error.message)
      })
      deathCount += 1
    }
    return failure ?? new Error('the embedded database dies each time it is started')
  }
  const exited = watch()

  return {
    get pid() {
      return server?.child.pid
    },
    exited,
    async stop() {
      stopping.abort()
      if (server) await stopServer(server, options.place.cluster)
      await exited
    },
  }
}
