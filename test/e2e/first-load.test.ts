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
  for (const file of files) expect(loaded).toContain(file)
})

test('the overview, with all it has, stays within the budget too', async () => {
  const { page, context } = await dashboard.stranger()
  const client = await context.newCDPSession(page)
  await client.send('Network.enable')
  let bytes = 0
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(await dashboard.link())
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(AGREED)
})
