import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createPool } from './pool.ts'
import { isConnectionLost, transaction } from './transaction.ts'

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

test('a server that is ready and shuts down in one packet ends no process', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.once('data', () => {
      const isReady = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]
      const isGone = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'))
      socket.end(Buffer.concat([...isReady, isGone]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const pool = createPool({ databaseUrl: `postgresql://me@127.0.0.1:${port}/db` })
  try {
    const refused = await transaction(pool, async () => {}).catch((error: unknown) => error)
    expect(isConnectionLost(refused)).toBe(true)
  } finally {
    await pool.end()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})
