import { expect, test } from 'vitest'
import { aPushArchive } from '../../test/push-archive.ts'
import { aTaskServer } from '../../test/task-server.ts'

test('the timeline of a scope, of a revision and of a time', async () => {
  await using server = await aTaskServer()
  const first = await server.add({ scope: 'line' })
  const second = await server.add({ scope: 'line', requires: [first] })
  await server.perform()
  const { json } = await server.ask('GET', '/v1/timeline?scope=line')
  expect(json.items.map(({ id }: { id: string }) => id).sort()).toEqual([first, second].sort())
  expect(json.edges).toEqual([{ from: first, to: second, when: 'succeeded' }])
  expect(json).toMatchObject({ critical: [first, second], is_cut: false })
  const recent = await server.ask('GET', '/v1/timeline')
  expect(recent.json.items.length).toBe(2)
  const { name, commit } = await aPushArchive(server)
  await commit({ 'a.yaml': '- { name: a, command: ["true"] }\n' })
  const path = `/v1/timeline?archive=${encodeURIComponent(name)}`
  const revision = await server.ask('GET', `${path}&rev=1`)
  expect(revision.json.items.map(({ key }: { key: string }) => key)).toEqual(['1:COMMIT', '1:a'])
  for (const [asked, code] of [
    [path, 'invalid'],
    [`${path}&rev=9`, 'revision_not_planned'],
    ['/v1/timeline?scope=a&worker=1', 'invalid'],
    ['/v1/timeline?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z', 'invalid'],
  ] as const) {
    expect((await server.ask('GET', asked)).json.code).toBe(code)
  }
})
