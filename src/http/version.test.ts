import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { anApp, type TestApp } from '../../test/app.ts'
import { route } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import { setVersion } from './version.ts'

const shape = z.object({ version: z.int(), expected: z.string().nullable().optional() })
const common = { path: '/v1/note', summary: 'Test', isVersioned: true } as const
const read = route({ ...common, method: 'GET', name: 'note.get', access: { role: 'viewer' }, answers: { 200: shape } })
const edit = route({ ...common, method: 'PUT', name: 'note.edit', access: { role: 'viewer' }, answers: { 200: shape } })
const remove = route({ ...edit, method: 'DELETE', name: 'note.delete', isVersioned: 'required' })

let app: TestApp
beforeAll(async () => {
  const version = 7
  app = await anApp({
    resources: [
      (server) => {
        addRoute(server, read, async ({ reply }) => {
          setVersion(reply, version)
          return { version }
        })
        for (const each of [edit, remove]) {
          addRoute(server, each, async (asked) => {
            if (asked.version !== undefined && asked.version !== String(version)) {
              throw Object.assign(new Error(`it has version ${version}`), { code: 'precondition_failed' })
            }
            return { version, expected: asked.version ?? null }
          })
        }
      },
    ],
  })
})
afterAll(() => app[Symbol.asyncDispose]())

const send = (method: string, headers: Record<string, string> = {}) => app.ask(method, '/v1/note', { headers })

test('what was read says its version, and is not sent again to those who have it', async () => {
  const first = await send('GET')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toBe('"7"')
  for (const known of [etag, `W/${etag}`, `"3", ${etag}`, '*']) {
    const again = await send('GET', { 'if-none-match': known })
    expect([again.status, again.text], known).toEqual([304, ''])
    expect(again.headers.get('etag')).toBe(etag)
  }
  expect((await send('GET', { 'if-none-match': '"6"' })).status).toBe(200)
})

test('an edit names the version that it changes', async () => {
  expect((await send('PUT', { 'if-match': '"7"' })).json).toEqual({ version: 7, expected: '7' })
  expect((await send('PUT', { 'if-match': '*' })).json).toEqual({ version: 7, expected: null })
  expect((await send('PUT')).json).toEqual({ version: 7, expected: null })
  for (const other of ['"6"', 'W/"7"', '7', '""', '"7", "8"', 'x'.repeat(300)]) {
    expect((await send('PUT', { 'if-match': other })).json, other).toMatchObject({ code: 'precondition_failed' })
  }
})

test('where a version is required, its absence is refused', async () => {
  expect((await send('DELETE')).json).toMatchObject({ status: 428, code: 'precondition_required' })
  expect((await send('DELETE', { 'if-match': '"7"' })).status).toBe(200)
})
