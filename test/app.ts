// A real HTTP server with routes of the test's own, on a database of its own: for what holds for every route.
import { pino } from 'pino'
import { type AccessControl, adminToken, createAccess, type IsLive } from '../src/access/index.ts'
import { createServer, type HttpServer, type ServerOptions } from '../src/http/index.ts'
import { database, type TestDatabase } from './database.ts'
import { ADMIN, asker, type TestServer } from './server.ts'

export type TestApp = AsyncDisposable & {
  readonly url: string
  readonly server: HttpServer
  readonly access: AccessControl
  readonly database: TestDatabase
  readonly ask: TestServer['ask']
}

export async function anApp(
  options: Partial<ServerOptions> & { isLive?: IsLive; on?: TestDatabase } = {},
): Promise<TestApp> {
  const { isLive = async () => false, on, ...given } = options
  const db = on ?? (await database())
  const access = await createAccess({
    pool: db.pool,
    adminToken: await adminToken({ given: ADMIN, dataDir: '' }),
    isLive,
    auditDays: 0,
    onError: (error) => {
      throw error
    },
  })
  const server = createServer({
    logger: pino({ level: 'silent' }),
    version: '0.0.0',
    access,
    rateLimit: 0,
    readiness: async () => undefined,
    ...given,
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    server,
    access,
    database: db,
    ask: await asker(url),
    async [Symbol.asyncDispose]() {
      await server.drain(1000)
      await access.close()
      if (on === undefined) await db[Symbol.asyncDispose]()
    },
  }
}
