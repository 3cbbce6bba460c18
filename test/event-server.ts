// A server of events alone, for tests that look at what it holds open or must not wait for its beat.
import type { Socket } from 'node:net'
import { pino } from 'pino'
import { beforeEach, onTestFinished } from 'vitest'
import { adminToken, createAccess } from '../src/access/index.ts'
import { connect, type Millrace, publish } from '../src/engine/index.ts'
import { addEvents } from '../src/http/events.ts'
import { createServer } from '../src/http/server.ts'
import { addSocket } from '../src/http/socket.ts'
import { database } from './database.ts'
import { waitFor } from './processes.ts'
import { ADMIN } from './server.ts'
import { shared } from './shared.ts'

type Options = { readonly beatMs?: number }

export async function anEventServer(options: Options = {}) {
  const server = await start(options)
  onTestFinished(server.stop)
  return server
}

/** One for all tests of a file. Each test starts once all listeners have left. */
export function useEventServer() {
  const server = shared(() => start({}))
  beforeEach(() => waitFor(() => (server.subscriptions() === 0 ? true : undefined)))
  return server
}

async function start({ beatMs = 15_000 }: Options) {
  const db = await database()
  const millrace = await connect({ databaseUrl: db.databaseUrl })
  const access = await createAccess({
    pool: db.pool,
    adminToken: await adminToken({ given: ADMIN, dataDir: '' }),
    isLive: async () => true,
    auditDays: 0,
    onError: () => {},
  })
  let subscriptions = 0
  const source = {
    async subscribe(...asked: Parameters<Millrace['subscribe']>) {
      const subscription = await millrace.subscribe(...asked)
      subscriptions += 1
      let isOpen = true
      return {
        get position() {
          return subscription.position
        },
        unsubscribe() {
          if (isOpen) subscriptions -= 1
          isOpen = false
          subscription.unsubscribe()
        },
      }
    },
    events: (options: Parameters<Millrace['events']>[0]) => millrace.events(options),
    resolve: (text: string) => millrace.resolve(text),
  }
  const sockets = new Set<Socket>()
  const server = createServer({
    logger: pino({ level: 'silent' }),
    version: '0.0.0',
    access,
    rateLimit: 0,
    readiness: async () => undefined,
    resources: [(app) => addEvents(app, source, beatMs), (app) => addSocket(app, source, beatMs)],
  })
  server.app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    await server.drain(1_000)
    await millrace.close()
    await access.close()
    await db[Symbol.asyncDispose]()
  }
  return {
    url,
    app: server.app,
    pool: db.pool,
    millrace,
    access,
    stop,
    [Symbol.asyncDispose]: stop,
    /** Bytes that the server holds for its clients. */
    heldBytes: () => [...sockets].reduce((sum, socket) => sum + socket.writableLength, 0),
    subscriptions: () => subscriptions,
    tell: (name = 'test.told', detail: unknown = {}, scope = 'test') => publish(db.pool, { name, scope, detail }),
  }
}
