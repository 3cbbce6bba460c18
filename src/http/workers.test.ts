import { expect, test } from 'vitest'
import { waitFor } from '../../test/processes.ts'
import { aTaskServer } from '../../test/task-server.ts'

test('workers are shown with what they do, and paused, drained and resumed by an operator', async () => {
  await using server = await aTaskServer()
  const { task, end } = await server.runOne()
  const all = (await server.ask('GET', '/v1/workers')).json.items
  const worker = all.find((one: { tasks: { id: string }[] }) => one.tasks.some(({ id }) => id === task))
  expect(worker).toMatchObject({ slots: 10, running: 1, wanted: 'running', process: process.pid, stopped_at: null })
  expect(worker.heartbeat_age_ms).toBeGreaterThanOrEqual(0)
  const paused = await server.ask('POST', `/v1/workers/${worker.id}/pause`)
  expect(paused.json).toMatchObject({ id: worker.id, wanted: 'paused', wanted_by: 'admin' })
  const listed = await server.commandLine(['worker', 'resume', String(worker.id), '--json'])
  expect(JSON.parse(listed.stdout)[0]).toMatchObject({ wanted: 'running' })
  expect((await server.ask('POST', `/v1/workers/${worker.id}/drain`)).json.wanted).toBe('draining')
  const viewer = await server.ask('POST', '/v1/tokens', { body: { name: 'v', role: 'viewer' } })
  const refused = await server.ask('POST', `/v1/workers/${worker.id}/pause`, { token: viewer.json.secret })
  expect(refused.status).toBe(403)
  const audit = await waitFor(async () => {
    const { items } = (await server.ask('GET', '/v1/audit?action=workers.drain')).json
    return items.length > 0 ? items : undefined
  })
  expect(audit[0]).toMatchObject({ actor: 'admin', subject: { id: String(worker.id) } })
  await end()
  const gone = await server.ask('POST', `/v1/workers/${worker.id}/pause`)
  expect([gone.status, gone.json.code]).toEqual([404, 'worker_not_found'])
})
