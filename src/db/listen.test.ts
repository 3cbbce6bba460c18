import { expect, test } from 'vitest'
import { proxyTo } from '../../test/crash/proxy.ts'
import { database } from '../../test/database.ts'
import { listen } from './listen.ts'

test('a connection that listens and falls silent is replaced', async () => {
  await using db = await database()
  await using proxy = await proxyTo(db.databaseUrl)
  const told: string[] = []
  let connected = 0
  const listener = listen({
    databaseUrl: proxy.databaseUrl,
    channels: ['news'],
    askEveryMs: 200,
    onNotification: (_, payload) => told.push(payload),
    onConnect: () => {
      connected += 1
    },
  })
  await listener.tried
  proxy.strand()
  await expect.poll(() => connected).toBe(2)
  await db.pool.query(`select pg_notify('news', 'heard')`)
  await expect.poll(() => told).toEqual(['heard'])
  await listener.close()
})
