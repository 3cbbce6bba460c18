import { expect, test } from 'vitest'
import { oneNumber, playServer, WELCOME } from '../../test/wire.ts'
import { openDatabase } from './open.ts'

/** A server that lets everybody in and answers every query with its version. */
const serverOf = (version: number) =>
  playServer((socket) => {
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.on('data', (chunk) => {
        if (chunk.toString('latin1', 0, 1) === 'Q') socket.write(oneNumber('version', version))
      })
    })
  })

test.each([
  [90_624, 9],
  [140_019, 14],
])('a server of version %i is refused as PostgreSQL %i, with what to use instead', async (version, major) => {
  await using server = await serverOf(version)
  const { databaseUrl } = server
  const refusal = openDatabase({ databaseUrl, shownAs: 'postgresql://me@db', dataDir: '' })
  await expect(refusal).rejects.toMatchObject({
    code: 'database_unusable',
    message: `the server at postgresql://me@db is PostgreSQL ${major}`,
    remedy: 'use PostgreSQL 15 or newer',
  })
})

test('the oldest server that is supported is taken', async () => {
  await using server = await serverOf(150_000)
  const opened = await openDatabase({ databaseUrl: server.databaseUrl, dataDir: '' })
  await opened.stop()
})
