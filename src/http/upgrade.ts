// Requests that ask for another protocol. Node takes them off the HTTP server as soon as anybody listens for them, all of
// them. One for a WebSocket goes through the routes like any other, so that the same doors stand before it; every other
// is given back: clients that offer HTTP/2 in passing expect an ordinary answer.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Upgrade = { readonly socket: Duplex; readonly head: Buffer }

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/** What is left of the connection when the request asks for a WebSocket. */
export function upgradeOf(request: FastifyRequest): Upgrade | undefined {
  return upgrades.get(request.raw)
}

export function addUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Nobody else listens to a socket that was taken off the server.
    socket.on('error', () => socket.destroy())
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return giveBack(app, { request, socket, head })
    upgrades.set(request, { socket, head })
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.destroySoon())
    app.routing(request, response)
  })
}

const OFFERS = new Set(['upgrade', 'http2-settings', 'connection'])

type Taken = { readonly request: IncomingMessage; readonly socket: Socket; readonly head: Buffer }

/** Has the server read the request again as one that offers nothing. */
function giveBack(app: FastifyInstance, { request, socket, head }: Taken): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!OFFERS.has(rawHeaders[i]?.toLowerCase() ?? '')) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  app.server.emit('connection', socket)
}
