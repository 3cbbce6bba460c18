import { expect, test } from 'vitest'
import { archiveServer } from '../../test/archives.ts'
import { waitFor } from '../../test/processes.ts'
import { aPushArchive } from '../../test/push-archive.ts'

const YEARLY = 'on: { schedule: { cron: "0 3 29 2 *" } }\ntasks: [{ name: set, command: make set }]\n'

test('schedules are listed in pages, of one archive or of all, and acted on by those who may', async () => {
  const server = await archiveServer()
  const [one, two] = [await aPushArchive(server), await aPushArchive(server)]
  await one.commit({ 'a.yaml': YEARLY, 'b.yaml': YEARLY.replace('set,', 'other,') })
  await two.commit({ 'a.yaml': YEARLY })
  await waitFor(async () => (await server.ask('GET', '/v1/schedules')).json.items.length === 3 || undefined)
  const first = await server.ask('GET', '/v1/schedules?limit=2')
  const rest = await server.ask('GET', `/v1/schedules?limit=2&cursor=${first.json.next_cursor}`)
  expect([...first.json.items, ...rest.json.items]).toHaveLength(3)
  const path = `/v1/archives/${encodeURIComponent(one.name)}/schedules`
  const { items } = (await server.ask('GET', path)).json
  expect(items.map(({ workflow }: { workflow: string }) => workflow).sort()).toEqual(['a', 'b'])
  expect((await server.ask('GET', '/v1/archives/Nobody/schedules')).json.code).toBe('archive_not_found')

  const [{ id }] = items
  const { json: viewer } = await server.ask('POST', '/v1/tokens', { body: { name: 'looker', role: 'viewer' } })
  for (const verb of ['pause', 'resume', 'run']) {
    const refused = await server.ask('POST', `/v1/schedules/${id}/${verb}`, { token: viewer.secret })
    expect(refused.status, verb).toBe(403)
  }
  const seen = await server.ask('GET', `/v1/schedules/${id}?count=3`, { token: viewer.secret })
  expect(seen.json).toMatchObject({ state: 'active', timezone: 'UTC', overlap: 'skip', last: null, ticks: [] })
  expect(seen.json.next).toHaveLength(3)

  expect((await server.ask('POST', `/v1/schedules/${id}/pause`)).json).toMatchObject({ state: 'paused', next_at: null })
  const headers = { 'idempotency-key': 'run-it-once' }
  const run = await server.ask('POST', `/v1/schedules/${id}/run`, { headers })
  expect([run.status, run.json.run]).toEqual([201, '1'])
  expect((await server.ask('POST', `/v1/schedules/${id}/run`, { headers })).json).toEqual(run.json)
  expect((await server.ask('POST', `/v1/schedules/${id}/resume`)).json).toMatchObject({
    state: 'active',
    last: { outcome: 'planned', run: '1', rev: 1 },
  })
  const { ticks } = (await server.ask('GET', `/v1/schedules/${id}`)).json
  expect(ticks).toMatchObject([{ outcome: 'planned', actor: 'admin', missed_since: null }])
  expect((await server.ask('GET', '/v1/schedules/999')).json.code).toBe('schedule_not_found')
})
