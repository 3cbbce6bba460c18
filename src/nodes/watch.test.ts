import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { waitFor } from '../../test/processes.ts'
import { transaction } from '../db/index.ts'
import { connect, type Millrace } from '../engine/index.ts'
import { addNodes } from './add.ts'
import { removeNode } from './remove.ts'
import { waitForNew, waitForNodes } from './wait.ts'
import { NodeWatch } from './watch.ts'

let db: TestDatabase
let millrace: Millrace
let watch: NodeWatch

beforeAll(async () => {
  db = await database()
  millrace = await connect({ databaseUrl: db.databaseUrl })
  watch = new NodeWatch(millrace)
})
afterAll(async () => {
  watch.close()
  await millrace.close()
  await db[Symbol.asyncDispose]()
})

/** A node that nobody performs. */
const add = async () => {
  const item = { type: 'sleep' as const, parent: 'root', data: { seconds: 1 } }
  const [node] = await addNodes({ millrace, tx: db.pool, actor: 'test' }, [item])
  return node?.metadata.id as string
}

const LONG_MS = 3_600_000

test('whoever goes away leaves nothing behind', async () => {
  const id = await add()
  const gone = new AbortController()
  const patience = { ms: LONG_MS, signal: gone.signal }
  const waits = [
    waitForNew(db.pool, watch, { after: id, limit: 1 }, patience),
    waitForNodes(db.pool, watch, { ids: [id] }, patience),
  ]
  await waitFor(() => (watch.size === 2 ? true : undefined))
  gone.abort()
  const [newer, states] = await Promise.all(waits)
  expect(newer).toEqual({ nodes: [], hasMore: false })
  expect(states).toEqual({ nodes: [{ id, state: 'incipient' }], isOver: false })
  expect(watch.size).toBe(0)
})

test('a node whose task a retention rule has deleted is gone, and goes with its parent', async () => {
  const tree = { millrace, tx: db.pool, actor: 'test' }
  const item = { type: 'sleep' as const, data: { seconds: 1 } }
  const [parent, child] = await addNodes(tree, [
    { ...item, parent: 'root' },
    { ...item, parent: '#0' },
  ])
  const id = parent?.metadata.id as string
  await millrace.cancel(parent?.metadata.task as string)
  await db.pool.query('delete from millrace.done where id = $1', [child?.metadata.task])
  await db.pool.query('delete from millrace.task where id = $1', [child?.metadata.task])
  expect(await removeNode(tree, id, { isChain: true })).toBe(2)
})

test('a node that is removed while it is waited for ends the waiting with its name', async () => {
  const id = await add()
  const patience = { ms: LONG_MS, signal: new AbortController().signal }
  const refused = expect(waitForNodes(db.pool, watch, { ids: [id] }, patience)).rejects.toMatchObject({
    code: 'node_not_found',
  })
  await waitFor(() => (watch.size === 1 ? true : undefined))
  // Together, as a request does it: in between the node has ended, and that ends the waiting, too.
  await transaction(db.pool, (tx) => removeNode({ millrace, tx, actor: 'test' }, id, { isChain: false }))
  await refused
  expect(watch.size).toBe(0)
})
