import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { leaveArtifacts } from '../../test/artifacts.ts'
import { useTaskServer } from '../../test/task-server.ts'

const server = useTaskServer()

/** A task that has left these files behind. */
async function aTaskWith(
  files: Readonly<Record<string, Buffer | string>>,
  key: string = randomUUID(),
): Promise<string> {
  const id = await server.add({ scope: 'archive:My-Project', key })
  await server.perform()
  const left = Object.entries(files).map(([path, content]) => [path, { content }])
  await leaveArtifacts(server.database.pool, id, Object.fromEntries(left))
  return id
}

const content = randomBytes(2_500_000)
const url = (id: string, path: string) => `/v1/tasks/${id}/artifacts/${encodeURIComponent(path)}`

test('artifacts are listed page by page and downloaded whole, by the name of the task too', async () => {
  const id = await aTaskWith({ 'out/a.bin': content, 'out/empty': '', 'out/z': 'last\n' }, '12:build')
  const first = await server.ask('GET', `/v1/tasks/${id}/artifacts?limit=2`)
  expect(first.json.items[0]).toMatchObject({
    path: 'out/a.bin',
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    executable: false,
  })
  const rest = await server.ask('GET', `/v1/tasks/${id}/artifacts?limit=2&cursor=${first.json.next_cursor}`)
  expect(rest.json).toMatchObject({ items: [{ path: 'out/z' }], next_cursor: null })
  const response = await fetch(server.url + url('My-Project@12:build', 'out/a.bin'), {
    headers: { authorization: 'Bearer the-admin-token-of-the-tests' },
  })
  expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true)
  expect((await server.ask('GET', url(id, 'out/empty'))).text).toBe('')
  expect((await server.ask('GET', url(id, 'out/none'))).json).toMatchObject({ status: 404, code: 'artifact_not_found' })
  expect((await server.ask('GET', url(id, '../out/z'))).json.code).toBe('artifact_not_found')
})

test('a part of an artifact is answered, and none that is not there', async () => {
  const id = await aTaskWith({ f: '0123456789' })
  const ask = (range: string, headers = {}) => server.ask('GET', url(id, 'f'), { headers: { range, ...headers } })
  const parts = await Promise.all(
    ['bytes=2-4', 'bytes=7-', 'bytes=-3', 'bytes=0-99', 'bytes=-99'].map((range) => ask(range)),
  )
  expect(parts.map(({ status, text, headers }) => [status, text, headers.get('content-range')])).toEqual([
    [206, '234', 'bytes 2-4/10'],
    [206, '789', 'bytes 7-9/10'],
    [206, '789', 'bytes 7-9/10'],
    [206, '0123456789', 'bytes 0-9/10'],
    [206, '0123456789', 'bytes 0-9/10'],
  ])
  for (const range of ['bytes=4-2', 'bytes=1-2,4-5', 'lines=1-2', 'bytes=-'])
    expect((await ask(range)).status).toBe(200)
  const beyond = await ask('bytes=10-')
  expect(beyond.json).toMatchObject({ status: 416, code: 'range_not_satisfiable' })
  expect(beyond.headers.get('content-range')).toBe('bytes */10')
  expect((await ask('bytes=2-4', { 'if-range': '"another"' })).status).toBe(200)
  const etag = parts[0]?.headers.get('etag') ?? ''
  expect((await ask('bytes=2-4', { 'if-range': etag })).status).toBe(206)
  expect((await server.ask('GET', url(id, 'f'), { headers: { 'if-none-match': etag } })).status).toBe(304)
})

test('an artifact is never a page of this server, whatever its name', async () => {
  const odd = 'x/"; evil="1\r\nSet-Cookie: a=b; ü\'().html'
  const id = await aTaskWith({ [odd]: '<script>alert(1)</script>' })
  const { status, headers } = await server.ask('GET', url(id, odd))
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/octet-stream')
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+"; filename\*=UTF-8''[\w.%~!-]+$/)
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('set-cookie')).toBeNull()
})
