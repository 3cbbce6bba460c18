import { expect, test } from 'vitest'
import { message, playServer, WELCOME } from '../../test/wire.ts'
import { createPool } from './pool.ts'
import { isConnectionLost, transaction } from './transaction.ts'

test('a server that is ready and shuts down in one packet ends no process', async () => {
  await using server = await playServer((socket) => {
    socket.once('data', () => {
      const isGone = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'))
      socket.end(Buffer.concat([WELCOME, isGone]))
    })
  })
  const pool = createPool({ databaseUrl: server.databaseUrl })
  try {
    const refused = await transaction(pool, async () => {}).catch((error: unknown) => error)
    expect(isConnectionLost(refused)).toBe(true)
  } finally {
    await pool.end()
  }
})
