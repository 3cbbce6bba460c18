import { expect, onTestFinished, test } from 'vitest'
import { sleeping, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'
import { connect } from '../engine/index.ts'
import { waitForNodes } from './wait.ts'
import { NodeWatch } from './watch.ts'

const nodes = useNodes()

test('a node that has ended counts as ended for those who wait, also when it is removed before the others end', async () => {
  const { pool, databaseUrl } = nodes.server.database
  const millrace = await connect({ databaseUrl })
  onTestFinished(() => millrace.close())
  const watch = new NodeWatch(millrace)
  onTestFinished(() => watch.close())
  const [ended, lasting] = (await nodes.add(sleeping(0), sleeping(1000))) as [string, string]
  await nodes.ended(ended)
  const patience = { ms: 60_000, signal: new AbortController().signal }
  const waiting = waitForNodes(pool, watch, { ids: [ended, lasting] }, patience)
  waiting.catch(() => {})
  await waitFor(() => (watch.size > 0 ? true : undefined))
  await nodes.ask('DELETE', `/v1/nodes/${ended}`)
  await nodes.ask('PUT', `/v1/scheduler/kill?id=${lasting}`)
  expect(await waiting).toEqual({
    isOver: true,
    nodes: [
      { id: ended, state: 'finished' },
      { id: lasting, state: 'killed' },
    ],
  })
})
