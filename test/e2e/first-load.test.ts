import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aDashboard, type Dashboard } from './kit.ts'

const BUILT = fileURLToPath(new URL('../../dist/web/', import.meta.url))
const AGREED = 250 * 1024

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await aDashboard()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('what is loaded first is within the budget, and the build says so truly', async () => {
  const { bytes, mostBytes, files } = JSON.parse(await readFile(`${BUILT}first-load.json`, 'utf8'))
  expect(mostBytes).toBe(AGREED)
  expect(bytes).toBeLessThanOrEqual(AGREED)
  const sizes = await Promise.all(files.map(async (file: string) => gzipSync(await readFile(BUILT + file)).length))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(bytes)
  const { page } = await dashboard.stranger()
  const loaded: string[] = []
  page.on('response', (response) => loaded.push(new URL(response.url()).pathname.slice(1)))
  await page.goto(`${dashboard.address}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await expect.poll(() => files.filter((file: string) => !loaded.includes(file))).toEqual([])
})

test('the overview, with all it has, stays within the budget too', async () => {
  const { page, context } = await dashboard.stranger()
  const client = await context.newCDPSession(page)
  await client.send('Network.enable')
  const urls = new Map<string, string>()
  const loaded: { url: string; bytes: number }[] = []
  client.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url))
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength: bytes }) => {
    const url = urls.get(requestId) ?? ''
    // What the server has to tell grows with what it does, and with how long one looks.
    if (!url.includes('/v1/')) loaded.push({ url, bytes })
  })
  await page.goto(await dashboard.link())
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  // The last: it is loaded when all the rest was, before somebody asks for it.
  await expect.poll(() => loaded.some(({ url }) => /\/palette-\w+\.js$/.test(url))).toBe(true)
  const bytes = loaded.reduce((sum, one) => sum + one.bytes, 0)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(AGREED)
})
