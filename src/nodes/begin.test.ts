import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useEngine } from '../../test/engine.ts'
import { createProcessRunner } from '../runners/index.ts'
import { addNodes, type NewNode } from './add.ts'
import { beginWork } from './nodes.sql.ts'
import { readNode } from './read.ts'
import { specKeys } from './spec.ts'
import { createNodeWorkers, type NodeWorkers } from './worker.ts'

const engine = useEngine()

const runner = createProcessRunner()
let folder: string
let workers: NodeWorkers['workers']

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-begin-'))
  workers = createNodeWorkers({
    pool: engine.pool,
    millrace: engine.millrace,
    runner,
    scratch: folder,
    markerPrefix: 'millrace-test-begin-',
    graceMs: 1000,
    url: () => 'http://127.0.0.1:1',
    issueToken: () => 'token',
  }).workers
})
afterAll(async () => {
  await runner.close()
  await rm(folder, { recursive: true })
})

const add = async (data: NewNode['data'], type: NewNode['type'] = 'command') => {
  const tree = { millrace: engine.millrace, tx: engine.pool, actor: 'test' }
  const [node] = await addNodes(tree, [{ type, parent: 'root', data }])
  return node?.metadata.id as string
}
const begin = async (task: string, epoch: number) =>
  (await beginWork(engine.pool, { tasks: [task], epochs: [epoch], keys: specKeys }))[0]

test('work that was claimed and never begun is not lost: the next worker does it', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ command: 'true' })
  expect(await hand.claim()).toHaveLength(1)
  await engine.expire(hand.id)
  const next = await engine.byHand(workers)
  const [run] = await next.claim()
  expect(run?.deaths).toBe(1)
  await next.perform(run as NonNullable<typeof run>)
  expect((await readNode(engine.pool, id)).metadata.state).toBe('finished')
})

test('work that was begun and whose worker died is lost, and shown as running until somebody says so', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ command: 'true' })
  const [run] = await hand.claim()
  expect(await begin(run?.id as string, run?.epoch as number)).toMatchObject({ id, earlier: null })
  await engine.expire(hand.id)
  expect((await readNode(engine.pool, id)).metadata.state).toBe('running')
  const next = await engine.byHand(workers)
  const [again] = await next.claim()
  await next.perform(again as NonNullable<typeof again>)
  const { metadata, data } = await readNode(engine.pool, id)
  expect([metadata.state, data['error']]).toEqual([
    'failed',
    'lost: its worker died, or lost the database, while it ran',
  ])
})

test('a worker that is too late, or whose node was killed, does not begin', async () => {
  const hand = await engine.byHand(workers)
  await add({ command: 'true' })
  const [run] = await hand.claim()
  const { id: task, epoch } = run as NonNullable<typeof run>
  expect(await begin(task, epoch - 1)).toBeUndefined()
  expect(await begin(task, epoch + 1)).toBeUndefined()
  await engine.millrace.cancel(task)
  expect(await begin(task, epoch)).toBeUndefined()
  await hand.perform(run as NonNullable<typeof run>)
  expect(await engine.states(task)).toEqual(['canceled'])
})

test('a failed node that is retried starts anew, in its own right', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ command: 'false' })
  const perform = async () => {
    const [run] = await hand.claim()
    await hand.perform(run as NonNullable<typeof run>)
  }
  await perform()
  const first = (await readNode(engine.pool, id)).metadata
  expect(first.state).toBe('failed')
  await engine.millrace.retry(first.task)
  const asked = (await readNode(engine.pool, id)).metadata
  expect([asked.state, asked.startedAt]).toEqual(['incipient', null])
  await perform()
  const { metadata, data } = await readNode(engine.pool, id)
  expect([metadata.state, data['result']]).toEqual(['failed', 1])
  expect(metadata.startedAt?.getTime()).toBeGreaterThan(first.startedAt?.getTime() as number)
})

test('a sleeping node counts from its first beginning', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ seconds: 3600 }, 'sleep')
  const [run] = await hand.claim()
  await hand.perform(run as NonNullable<typeof run>)
  expect((await readNode(engine.pool, id)).metadata.state).toBe('running')
  await engine.pool.query(`update millrace.node set begun_at = begun_at - interval '1 hour' where id = $1`, [id])
  await engine.pool.query(`update millrace.live set not_before = clock_timestamp() where id = $1`, [run?.id])
  const [again] = await hand.claim()
  await hand.perform(again as NonNullable<typeof again>)
  expect((await readNode(engine.pool, id)).metadata.state).toBe('finished')
})
