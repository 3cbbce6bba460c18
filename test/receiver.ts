// A receiver on this machine that keeps what it is sent.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { PATIENCE_MS } from './processes.ts'

export type Received = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Receiver = {
  readonly url: string
  readonly port: number
  readonly server: Server
  readonly received: readonly Received[]
  /** Resolves when so many have come; fails loudly when they do not. */
  count(wanted: number): Promise<readonly Received[]>
}

export type Answer = (response: ServerResponse, received: Received) => void

/** Takes everything with 204 unless told otherwise; closed when the test is over. */
export async function aReceiver(answer: Answer = takeIt, host = '127.0.0.1', at = 0): Promise<Receiver> {
  const received: Received[] = []
  const hearers = new Set<() => void>()
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, path: url, headers, body: Buffer.concat(pieces).toString() }
      received.push(one)
      answer(response, one)
      for (const hear of hearers) hear()
    })
  })
  await new Promise<void>((resolve) => server.listen(at, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}/`,
    port,
    server,
    received,
    count: (wanted) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${received.length} of ${wanted} came`)), PATIENCE_MS)
        const hear = () => {
          if (received.length < wanted) return
          clearTimeout(timer)
          hearers.delete(hear)
          resolve(received)
        }
        hearers.add(hear)
        hear()
      }),
  }
}

const takeIt: Answer = (response) => {
  response.writeHead(204).end()
}
