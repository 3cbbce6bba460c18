import { expect, test } from 'vitest'
import { useTaskServer } from '../../test/task-server.ts'

const server = useTaskServer()

test('the same is done to all that a search finds, when they are as many as was believed', async () => {
  for (let i = 0; i < 3; i += 1) await server.add({ payload: 'broken', scope: 'many' })
  const first = await server.add({ payload: 'broken', scope: 'many' })
  const skipped = await server.add({ scope: 'many', requires: [first] })
  await server.add({ payload: 'broken', scope: 'other' })
  await server.add({ scope: 'many' })
  await server.perform()
  const body = { q: 'scope:many', expected_count: 5 }
  const dry = await server.ask('POST', '/v1/tasks/retry?dry_run=1', { body: { ...body, expected_count: 0 } })
  expect(dry.json).toMatchObject({ count: 5, acted: 0, refused_count: 0 })
  expect(dry.json.items.map(({ state }: { state: string }) => state).sort()).toEqual([
    'failed',
    'failed',
    'failed',
    'failed',
    'skipped',
  ])
  const differs = await server.ask('POST', '/v1/tasks/retry', { body: { ...body, expected_count: 4 } })
  expect([differs.status, differs.json.code]).toEqual([409, 'count_differs'])
  const failed = async () => (await server.ask('GET', '/v1/tasks?state=failed&scope=many')).json.items.length
  expect(await failed()).toBe(4)
  const done = await server.ask('POST', '/v1/tasks/retry', { body })
  expect([done.status, done.json.count, done.json.acted + done.json.refused_count]).toEqual([200, 5, 5])
  expect(await failed()).toBe(0)
  expect((await server.ask('GET', `/v1/tasks/${skipped}`)).json.state).toBe('waiting')
  const canceled = await server.ask('POST', '/v1/tasks/cancel', {
    body: { scope: 'many', state: ['ready'], expected_count: 4, cause: 'enough' },
  })
  expect(canceled.json).toMatchObject({ count: 4, acted: 4 })
  const viewer = await server.ask('POST', '/v1/tokens', { body: { name: 'v', role: 'viewer' } })
  expect((await server.ask('POST', '/v1/tasks/cancel', { body, token: viewer.json.secret })).status).toBe(403)
})

test('how long tasks of a name usually take is told from the last successes', async () => {
  const ids = []
  for (const rev of [1, 2, 3, 4]) ids.push(await server.add({ scope: 'archive:Book', key: `${rev}:index` }))
  await server.add({ scope: 'archive:Book', key: '1:pdf' })
  await server.perform()
  await server.database.pool.query(
    `update millrace.done set finished_at = started_at + make_interval(secs => id - $1 + 1) where id >= $1`,
    [ids[0]],
  )
  const task = await server.add({ scope: 'archive:Book', key: '5:index' })
  const { json } = await server.ask('GET', `/v1/tasks/${task}/typical`)
  expect(json).toEqual({ id: task, count: 4, p10_ms: 1000, median_ms: 3000, p90_ms: 4000 })
  const pdf = await server.add({ scope: 'archive:Book', key: '5:pdf' })
  expect((await server.ask('GET', `/v1/tasks/${pdf}/typical`)).json).toMatchObject({ count: 0, median_ms: null })
})
