import { expect, test } from 'vitest'
import { createSender } from '../../test/fuzz/raw.ts'
import { useServer } from '../../test/server.ts'

const server = useServer()
const moved = useServer({ base_path: '/millrace' })

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const ODD_PATHS = [
  '/assets/',
  '/assets/../x',
  '/assets/%2e%2e/x',
  '/assets/.%2e/x',
  '/assets/..%2fx',
  '/assets/..%5cx',
  '/assets/..\\x',
  '/assets/%2e%2e%2f%2e%2e%2fetc/passwd',
  '/assets/%252e%252e/x',
  '/assets/%00',
  '/assets/a%00b',
  '/assets/%',
  '/assets/%ff',
  '/assets//x',
  '/assets/./x',
  '/assets/.hidden',
  '/assets/index.html',
  '//assets/../x',
  '/../x',
  '/..',
  '//',
  '/%00',
  '*',
  '/schemas/../x',
  '/v1/../x',
  '/v1/..%2f..%2fx',
  `/assets/${'x'.repeat(5000)}`,
  '/assets/%C0%AE%C0%AE/x',
  'http://a/b',
]
const get = (url: string, headers: Record<string, string> = html) => fetch(url, { headers })

test('every path that a browser opens is the page of the dashboard; what programs ask for is not', async () => {
  for (const path of ['/', '/archives/a%2Fb/r/12', '/sign-in', '/nowhere']) {
    const page = await get(server.url + path)
    expect(page.status, path).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(await page.text()).toContain('<base href="/" />')
  }
  for (const path of ['/v1/nowhere', '/v1', '/livez/x', '/assets/nowhere.js', '/schemas/x.json']) {
    const refused = await get(server.url + path)
    expect(refused.status, path).toBe(404)
    expect(await refused.json()).toMatchObject({ code: 'not_found' })
  }
  expect((await get(`${server.url}/nowhere`, { accept: 'application/json' })).status).toBe(404)
  expect((await fetch(`${server.url}/archives`, { method: 'POST', headers: html })).status).toBe(404)
})

test('the root is the page for every caller, and a path that leaves the folder of the files is not found', async () => {
  const send = createSender(server.url)
  try {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const page = await send({ method: 'GET', path: '/', headers, body: undefined })
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    }
    for (const method of ['GET', 'HEAD']) {
      for (const path of ODD_PATHS) {
        const { status, text } = await send({ method, path, headers: {}, body: undefined })
        expect(path === '/assets/../x' ? [404] : [400, 404], `${method} ${path} ${text}`).toContain(status)
        expect(text).not.toMatch(/\bat \S+:\d+|root:/)
      }
    }
  } finally {
    send.close()
  }
})

test('the page is sent once, and its files are kept for good and come compressed', async () => {
  const page = await get(server.url)
  const etag = page.headers.get('etag') ?? ''
  expect((await get(server.url, { ...html, 'if-none-match': etag })).status).toBe(304)
  const script = /assets\/index-[\w-]+\.js/.exec(await page.text())?.[0]
  const file = await get(`${server.url}/${script}`, { 'accept-encoding': 'br' })
  expect(file.status).toBe(200)
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(file.headers.get('content-encoding')).toBe('br')
})

test('under a base path the server answers with it and without, and names it in the page and in links', async () => {
  for (const path of ['/millrace', '/millrace/', '/millrace/tasks?q=x', '/tasks']) {
    expect(await (await get(moved.url + path)).text(), path).toContain('<base href="/millrace/" />')
  }
  expect((await get(`${moved.url}/millrace/livez`)).status).toBe(200)
  expect((await get(`${moved.url}/millracelivez`, {})).status).toBe(404)
  const { json } = await moved.ask('POST', '/v1/sign-in-links', { body: {} })
  expect(json.url).toMatch(`${moved.url}/millrace/sign-in#`)
})

test('the page says which build it is, and another base is another build', async () => {
  const buildOf = async (url: string) =>
    /name="millrace-build" content="([\w-]{22})"/.exec(await (await get(url)).text())?.[1]
  const build = await buildOf(server.url)
  expect(build).toBeDefined()
  expect(await buildOf(`${server.url}/tasks`)).toBe(build)
  expect(await buildOf(moved.url)).not.toBe(build)
  const page = await (await get(server.url)).text()
  expect(page).toMatch(/name="millrace-version" content="\d+\.\d+\.\d+/)
  expect(page).toContain(`name="millrace-zone" content="${Intl.DateTimeFormat().resolvedOptions().timeZone}"`)
})
