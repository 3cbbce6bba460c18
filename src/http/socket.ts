import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { hasRole, type Identity } from '../access/index.ts'
import { route } from '../api/index.ts'
import { enter } from './enter.ts'
import type { EventSource } from './event-selection.ts'
import { EventSocket } from './event-socket.ts'
import { credentialsOf } from './identity.ts'
import { Problem } from './problems.ts'
import { addUpgrades, upgradeOf } from './upgrade.ts'

const PATH = '/v1/ws'
const BEAT_MS = 15_000
const MOST_BYTES = 65_536
const MOST_SOCKETS = 5_000
const MOST_STRANGERS = 100

// Not part of the document, which has no words for it. Anyone may come: who it is may be said in the first message.
const door = route({
  method: 'GET',
  path: PATH,
  name: 'events.socket',
  summary: 'Subscribe to events and unsubscribe, over a WebSocket',
  access: { role: 'anyone' },
  answers: {},
})

/** `GET /v1/ws`: events over a WebSocket, with messages to subscribe and unsubscribe. */
export function addSocket(app: FastifyInstance, source: EventSource, beatMs = BEAT_MS): void {
  const sockets = new Set<EventSocket>()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MOST_BYTES,
    // Events are small, and each connection would keep two windows of memory.
    perMessageDeflate: false,
  })
  addUpgrades(app)
  const timer = setInterval(() => {
    for (const socket of sockets) void socket.beat()
  }, beatMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  const open = (request: FastifyRequest, reply: FastifyReply, webSocket: WebSocket) => {
    const { identity } = request
    const socket = new EventSocket(webSocket, { source, identity, ...recognition(app, request, reply) })
    const forget = app.onDrain(() => socket.bye('the server is stopping'))
    sockets.add(socket)
    webSocket.once('close', () => {
      forget()
      sockets.delete(socket)
    })
  }

  app.get(PATH, {
    onRequest: (request, reply) => enter(door, request, reply),
    async handler(request, reply) {
      const upgrade = upgradeOf(request)
      if (upgrade === undefined) {
        reply.header('upgrade', 'websocket')
        throw new Problem('upgrade_required', 'this is for WebSockets alone', { remedy: 'for SSE ask /v1/events' })
      }
      requireGood(request)
      const strangers = [...sockets].filter((socket) => !socket.isKnown).length
      if (sockets.size >= MOST_SOCKETS || (request.identity === undefined && strangers >= MOST_STRANGERS)) {
        throw new Problem('not_ready', 'too many connections are open on this server, and it takes no more')
      }
      reply.hijack()
      server.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (webSocket) => open(request, reply, webSocket))
      return reply
    },
  })
}

const maySubscribe = (identity: Identity) => hasRole(identity, 'viewer') || identity.limit?.to !== 'archive'

/** A token that is given must be good. A cookie may be stale: then the client has to say who it is. */
function requireGood(request: FastifyRequest): void {
  const { identity } = request
  if (identity === undefined && request.headers.authorization !== undefined) {
    throw new Problem('unauthorized', 'the request carries no valid token')
  }
  if (identity !== undefined && !maySubscribe(identity)) {
    throw new Problem('forbidden', `this needs the role viewer, and ${identity.name} is limited to one archive`)
  }
}

/** How a connection learns who its client is, and whether it still may be here. */
function recognition(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
  let credentials = credentialsOf(request)
  return {
    async authenticate(token: string) {
      await app.rates.refuseGuessing(request, reply)
      const found = await app.access.authenticate({ bearer: token })
      if (found === undefined) await app.rates.countFailure(request, reply)
      if (found === undefined || !maySubscribe(found)) return undefined
      credentials = { bearer: token }
      return found
    },
    isStillGood: async () => (await app.access.authenticate(credentials)) !== undefined,
  }
}
