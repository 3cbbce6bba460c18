import type { ChildProcess } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { waitFor } from '../processes.ts'

export type Daemon = AsyncDisposable & { readonly port: number }

const ATTEMPTS = 3

/** A server on a port of its own. One that ends at once has lost its port to somebody else, and gets another. */
export async function startDaemon(launch: (port: number) => Promise<ChildProcess>): Promise<Daemon> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const port = await freePort()
    const child = await launch(port)
    let hasEnded = false
    const ended = new Promise<void>((resolve) => {
      const end = () => {
        hasEnded = true
        resolve()
      }
      child.once('close', end).once('error', end)
    })
    const stop = async () => {
      child.kill('SIGTERM')
      await ended
    }
    try {
      await waitFor(async () => (hasEnded ? true : canConnect(port)))
    } catch (error) {
      await stop()
      throw error
    }
    if (!hasEnded) return { port, [Symbol.asyncDispose]: stop }
  }
  throw new Error(`the server ended ${ATTEMPTS} times before it could be reached`)
}

/** A port that nobody uses at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function canConnect(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (answer: true | undefined) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(undefined))
  })
}
