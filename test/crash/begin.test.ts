import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { shell, speaking } from '../nodes.ts'
import { aServer } from '../server.ts'
import { proxyTo } from './proxy.ts'

test('a command whose start was not answered by the database runs, and does not fail', async () => {
  await using db = await database()
  await using proxy = await proxyTo(db.databaseUrl)
  await using server = await aServer({ on: { ...db, databaseUrl: proxy.databaseUrl } })
  const nodes = speaking(() => server)
  const lost = proxy.loseAnswerTo(/begin_work|begun_seconds/)
  const [id] = (await nodes.add(shell('echo out'))) as [string]
  await lost
  expect([await nodes.ended(id), (await nodes.get(id)).data]).toMatchObject([['finished'], { stdout: 'out\n' }])
})
