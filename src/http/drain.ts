// Stopping. From the first moment on the server is not ready and takes no new work; what waits or streams is told to
// end with a last word; what is under way may end within the time that is given; what is left is cut off.
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from './problems.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** True from the moment on in which the server was asked to stop. */
    readonly isDraining: boolean
    /**
     * Calls `end` once when the server begins to stop: what it belongs to must send its last word and end. Answers a
     * function that takes it off the list, to be called when it ended by itself. While the server stops, `end` is
     * called at once.
     */
    onDrain(end: () => void): () => void
  }
}

export type Drain = {
  readonly isDraining: boolean
  /** Answers when nothing is open any more, after `limitMs` at the latest. */
  drain(limitMs: number): Promise<void>
}

/** Health and metrics are asked for while a server stops, too: that is how others learn of it. */
const isProbe = (request: FastifyRequest) => ['/livez', '/readyz', '/metrics'].includes(request.routeOptions.url ?? '')

export function addDrain(app: FastifyInstance): Drain {
  const ends = new Set<() => void>()
  const sockets = new Set<Socket>()
  let isDraining = false
  let open = 0
  let onIdle: () => void = () => {}

  app.decorate('isDraining', { getter: () => isDraining })
  app.decorate('onDrain', (end: () => void) => {
    if (isDraining) end()
    else ends.add(end)
    return () => void ends.delete(end)
  })
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('onRequest', async (request, reply) => {
    if (isDraining) {
      reply.header('connection', 'close')
      if (isProbe(request)) return
      reply.header('retry-after', '1')
      throw new Problem('not_ready', 'the server is stopping')
    }
    if (isProbe(request)) return
    open += 1
    reply.raw.once('close', () => {
      open -= 1
      if (open === 0) onIdle()
    })
  })

  return {
    get isDraining() {
      return isDraining
    },
    async drain(limitMs) {
      isDraining = true
      const timer = new AbortController()
      const late = sleep(limitMs, undefined, { signal: timer.signal }).catch(() => {})
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve
        if (open === 0) resolve()
      })
      for (const end of ends) end()
      ends.clear()
      await Promise.race([idle, late])
      // The listener closes only now: until then probes are told that the server is stopping.
      const closed = app.close().then(() => 'closed')
      // Browsers open connections ahead of need. The HTTP server waits for their first request.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      const first = await Promise.race([closed, late])
      // Sockets that were upgraded are none of the HTTP server's any more: it would wait for them for ever.
      if (first !== 'closed') for (const socket of sockets) socket.destroy()
      await closed
      timer.abort()
      await late
    },
  }
}
