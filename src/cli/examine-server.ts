// What `millrace doctor` looks at over HTTP: whether the port is free or a server answers, and who the token makes one.
import { createServer } from 'node:net'
import { type Config, localUrl } from '../config/index.ts'
import { anyRoute } from './any-route.ts'
import type { Context, Server } from './context.ts'
import { SIGN_IN } from './exit.ts'
import type { Finding } from './host.ts'

const PATIENCE_MS = 5_000

const good = (check: string, evidence: string): Finding => ({ check, state: 'good', evidence, fix: null })
const told = (check: string, state: Finding['state'], error: unknown): Finding => {
  const { message, remedy } = error as Error & { remedy?: string }
  return { check, state, evidence: message, fix: remedy ?? null }
}

export async function examineServer(context: Context, config: Config): Promise<Finding[]> {
  let server: Server
  try {
    server = await context.server()
  } catch (error) {
    return [told('server', 'bad', error)]
  }
  const readiness = await examineReadiness(server)
  const isLocal = server.connection.url === localUrl(config)
  return [
    ...(isLocal && readiness.state === 'unknown' ? [await examinePort(config)] : []),
    readiness,
    ...(readiness.state === 'good' ? [await examineToken(server)] : []),
  ]
}

/** A server that does not run is no fault: doctor is asked before the first start, too. */
async function examineReadiness({ client, connection }: Server): Promise<Finding> {
  try {
    await client.call(anyRoute('GET', '/readyz'), {}, { signal: AbortSignal.timeout(PATIENCE_MS) })
    return good('server', `ready at ${connection.url} (${connection.urlFrom})`)
  } catch (error) {
    const { code, name } = error as { code?: string; name?: string }
    const isAway = code === 'server_unreachable' || name === 'TimeoutError'
    return told('server', isAway ? 'unknown' : 'bad', error)
  }
}

async function examineToken({ client, routes, connection }: Server): Promise<Finding> {
  try {
    const { name, role, limit } = await client.call(routes.session.me)
    const may = limit === null ? `role ${role}` : `limited to ${limit.to} ${limit.name}`
    return good('token', `${name}, ${may} (from ${connection.tokenFrom})`)
  } catch (error) {
    return { ...told('token', 'warning', error), fix: SIGN_IN }
  }
}

function examinePort({ host, port }: Config): Promise<Finding> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const fix = 'stop what listens there, or choose another address (--host, --port)'
      const evidence =
        error.code === 'EADDRINUSE' ? `${host}:${port} is in use, not by a server that answers` : error.message
      resolve({ check: 'port', state: 'bad', evidence, fix })
    })
    probe.listen({ host, port }, () => probe.close(() => resolve(good('port', `${host}:${port} is free`))))
  })
}
