// Just enough of PostgreSQL's protocol to play a server that does what no real one is at hand for.
import { createServer, type Socket } from 'node:net'

/** One message of a server: its letter, its length, its body. */
export function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(letter), length, body])
}

const READY = message('Z', Buffer.from('I'))
/** Lets a client in, whoever it is. */
export const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY])

/** The answer to a query: one row with one number. */
export function oneNumber(name: string, value: number): Buffer {
  const text = String(value)
  const field = Buffer.alloc(18)
  field.writeInt32BE(23, 6) // the type: int4
  field.writeInt16BE(4, 10)
  field.writeInt32BE(-1, 12)
  const one = Buffer.from([0, 1])
  return Buffer.concat([
    message('T', Buffer.concat([one, Buffer.from(`${name}\0`), field])),
    message('D', Buffer.concat([one, Buffer.from([0, 0, 0, text.length]), Buffer.from(text)])),
    message('C', Buffer.from('SELECT 1\0')),
    READY,
  ])
}

export type Played = AsyncDisposable & { readonly databaseUrl: string }

/** Listens on a port of its own and calls `hear` with every connection. */
export async function playServer(hear: (socket: Socket) => void): Promise<Played> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    hear(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    databaseUrl: `postgresql://me@127.0.0.1:${port}/db`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
