import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aServer } from '../server.ts'
import { aDashboard } from './kit.ts'

const PATIENT = 90_000

/** A dashboard whose server can be stopped and started again at the same address. */
async function aRestartable() {
  const data = await mkdtemp(join(tmpdir(), 'millrace-e2e-'))
  const dashboard = await aDashboard({ data })
  const port = Number(new URL(dashboard.server.url).port)
  let again: Awaited<ReturnType<typeof aServer>> | undefined
  return {
    ...dashboard,
    stop: () => dashboard.server.stop(),
    async start(settings = {}) {
      again = await aServer({ on: dashboard.server.database, data, port, ...settings })
    },
    async [Symbol.asyncDispose]() {
      await again?.stop()
      await dashboard[Symbol.asyncDispose]()
      await rm(data, { recursive: true, force: true })
    },
  }
}

test('a server that goes away leaves what was shown, greyed and with its age; when it is back, everything is fresh', async () => {
  await using dashboard = await aRestartable()
  await dashboard.graph.add({ key: 'before' })
  const { page } = await dashboard.visit('/tasks')
  await page.getByRole('link', { name: 'before' }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await dashboard.stop()
  await page.getByText('The server does not answer. What is shown is as it was').waitFor({ timeout: PATIENT })
  await page.getByRole('button', { name: /^offline for / }).waitFor()
  await page.getByRole('link', { name: 'before' }).waitFor()
  await expect.poll(() => page.getByRole('main').getAttribute('data-stale')).toBe('true')
  // Another process goes on meanwhile.
  await dashboard.graph.add({ key: 'meanwhile' })
  await dashboard.start()
  await page.getByRole('link', { name: 'meanwhile' }).waitFor({ timeout: PATIENT })
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByText('The server does not answer').waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('main').getAttribute('data-stale')).toBeNull()
  expect(await page.getByText('another version of this dashboard').count()).toBe(0)
  await dashboard.graph.add({ key: 'afterwards' })
  await page.getByRole('button', { name: '1 new' }).click({ timeout: PATIENT })
  await page.getByRole('link', { name: 'afterwards' }).waitFor()
}, 240_000)

test('another build on the server is told of, and reloading shows it', async () => {
  await using dashboard = await aRestartable()
  const { page } = await dashboard.visit('/workers')
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await dashboard.stop()
  await page.getByRole('button', { name: /^offline/ }).waitFor({ timeout: PATIENT })
  // The page of a server under another path is another page.
  await dashboard.start({ base_path: '/elsewhere' })
  await page.getByText('The server has another version of this dashboard').waitFor({ timeout: PATIENT })
  const loaded = page.waitForEvent('load')
  await page.getByRole('button', { name: 'Reload' }).click()
  await loaded
  await expect.poll(() => page.locator('base').getAttribute('href')).toBe('/elsewhere/')
}, 240_000)

test('a screen that cannot be loaded says so, and comes when it can; with another build the page is loaded anew', async () => {
  await using dashboard = await aRestartable()
  const { page } = await dashboard.visit()
  await page.route(/assets\/schedules-.*\.js/, (route) => route.abort())
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByRole('alert').getByText('could not be loaded').waitFor()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.unroute(/assets\/schedules-.*\.js/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()

  await dashboard.stop()
  await dashboard.start({ base_path: '/elsewhere' })
  await page.route(/assets\/workers-.*\.js/, (route) => route.abort())
  const loaded = page.waitForEvent('load')
  await page.getByRole('link', { name: 'Workers' }).click()
  await loaded
  await expect.poll(() => page.locator('base').getAttribute('href')).toBe('/elsewhere/')
}, 240_000)

test('a page that is opened while the database is away says that nothing can be shown, and tries again', async () => {
  await using dashboard = await aRestartable()
  const { page } = await dashboard.visit()
  // What is between may break as well: the page is there, the answers are not.
  await page.route(/\/v1\//, (route) => route.abort())
  await page.reload()
  await page.getByRole('heading', { name: 'The server does not answer' }).waitFor({ timeout: PATIENT })
  await page.unroute(/\/v1\//)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}, 240_000)

test('what is paused stays as it is, and goes on when asked', async () => {
  await using dashboard = await aDashboard()
  const { page } = await dashboard.visit('/tasks')
  await page.getByRole('button', { name: /^live/ }).click()
  await page.getByRole('button', { name: /^paused/ }).waitFor()
  await dashboard.graph.add({ key: 'while paused' })
  const { page: other } = await dashboard.visit('/tasks')
  await other.getByRole('link', { name: 'while paused' }).waitFor()
  expect(await page.getByRole('link', { name: 'while paused' }).count()).toBe(0)
  await page.getByRole('button', { name: /^paused/ }).click()
  await page.getByRole('link', { name: 'while paused' }).waitFor()
})
