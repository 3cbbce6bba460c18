import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { shell, speaking } from '../nodes.ts'
import { waitFor } from '../processes.ts'
import { aServer } from '../server.ts'
import { proxyTo } from './proxy.ts'

test.each(['gone', 'silent'])(
  'a server whose database is %s stops although a command has printed what nobody can store',
  async (how) => {
    await using db = await database()
    await using proxy = await proxyTo(db.databaseUrl)
    const on = { ...db, databaseUrl: proxy.databaseUrl }
    const server = await aServer({ on, grace_seconds: 1, drain_seconds: 1 })
    const nodes = speaking(() => server)
    const [id] = (await nodes.add(shell('while true; do echo x; sleep 0.05; done'))) as [string]
    await waitFor(async () => ((await nodes.value(id, 'stdout').catch(() => '')) === '' ? undefined : true))
    if (how === 'gone') await proxy[Symbol.asyncDispose]()
    else proxy.stall()
    await server.stop()
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  },
)
