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
    url: async () => 'http://127.0.0.1:1',
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

/** Lets the attempt under way have been claimed an hour ago, and answers when. */
const claimedAnHourAgo = async (task: string | undefined): Promise<Date> => {
  const { rows } = await engine.pool.query(
    `update millrace.live set started_at = started_at - interval '1 hour' where id = $1 returning started_at`,
    [task],
  )
  return (rows[0] as { started_at: Date }).started_at
}
const startOf = async (id: string) => (await readNode(engine.pool, id)).metadata.startedAt

test('a node has started when it was claimed, before its work begins and ever after', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ command: 'true' })
  const [run] = await hand.claim()
  const claimed = await claimedAnHourAgo(run?.id)
  expect(await startOf(id)).toEqual(claimed)
  expect((await begin(run?.id as string, run?.epoch as number))?.begun_seconds).toBeGreaterThanOrEqual(3600)
  expect(await startOf(id)).toEqual(claimed)
  await hand.perform(run as NonNullable<typeof run>)
  expect((await readNode(engine.pool, id)).metadata).toMatchObject({ state: 'finished', startedAt: claimed })
})

test('a node that is retried has started when that attempt was claimed', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ command: 'false' })
  const [run] = await hand.claim()
  await hand.perform(run as NonNullable<typeof run>)
  await engine.millrace.retry(run?.id as string)
  const [again] = await hand.claim()
  const claimed = await claimedAnHourAgo(again?.id)
  expect(await startOf(id)).toEqual(claimed)
  await hand.perform(again as NonNullable<typeof again>)
  expect(await startOf(id)).toEqual(claimed)
})

test('a node that is killed between its claim and its beginning had started, one that is killed before had not', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ command: 'false' })
  const [run] = await hand.claim()
  await hand.perform(run as NonNullable<typeof run>)
  await engine.millrace.retry(run?.id as string)
  await engine.millrace.cancel(run?.id as string)
  expect((await readNode(engine.pool, id)).metadata).toMatchObject({ state: 'killed', startedAt: null })
  await engine.millrace.retry(run?.id as string)
  const [again] = await hand.claim()
  const claimed = await claimedAnHourAgo(again?.id)
  await engine.millrace.cancel(run?.id as string)
  await hand.perform(again as NonNullable<typeof again>)
  expect((await readNode(engine.pool, id)).metadata).toMatchObject({ state: 'killed', startedAt: claimed })
})

test('a sleeping node that was killed and is retried sleeps anew', async () => {
  const hand = await engine.byHand(workers)
  const id = await add({ seconds: 5400 }, 'sleep')
  const [run] = await hand.claim()
  const claimed = await claimedAnHourAgo(run?.id)
  await hand.perform(run as NonNullable<typeof run>)
  await engine.millrace.cancel(run?.id as string)
  expect((await readNode(engine.pool, id)).metadata).toMatchObject({ state: 'killed', startedAt: claimed })
  await engine.millrace.retry(run?.id as string)
  expect((await readNode(engine.pool, id)).metadata).toMatchObject({ state: 'incipient', startedAt: null })
  const [again] = await hand.claim()
  const anew = await claimedAnHourAgo(again?.id)
  expect(await begin(again?.id as string, again?.epoch as number)).toMatchObject({ id, earlier: null })
  await hand.perform(again as NonNullable<typeof again>)
  expect((await readNode(engine.pool, id)).metadata).toMatchObject({ state: 'running', startedAt: anew })
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
