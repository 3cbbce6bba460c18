import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/engine/index.ts'
import { aWorker, deferred } from '../engine.ts'
import { sleeping, speaking } from '../nodes.ts'
import { waitFor } from '../processes.ts'
import { aDashboard, type Dashboard } from './kit.ts'

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await aDashboard()
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

const workers = (page: Page) => page.getByRole('list', { name: 'Workers' }).locator('> li')
type Told = { id: number; name: string; wanted: string; running: number }
const told = async (): Promise<Told[]> => (await dashboard.server.ask('GET', '/v1/workers')).json.items

/** Another worker beside the server, as another process would be; it works until it is ended. */
async function another() {
  const millrace = await connect({ databaseUrl: dashboard.server.database.databaseUrl })
  const over = deferred()
  const begun = deferred()
  const kind = aWorker({
    async work() {
      begun.resolve()
      await over.promise
      return undefined
    },
  })
  const dispatcher = millrace.dispatch([kind], { name: 'the-other-one' })
  return {
    millrace,
    kind,
    begun: begun.promise,
    async [Symbol.asyncDispose]() {
      over.resolve()
      await dispatcher.stop()
      await millrace.close()
    },
  }
}

test('each worker is shown with its process, slots, queues and present tasks', async () => {
  await using other = await another()
  const { id } = await other.millrace.add(other.kind, null)
  await other.begun
  const { page, complaints } = await dashboard.visit('/workers')
  const card = workers(page).filter({ hasText: 'the-other-one' })
  await card.getByText('at work').waitFor()
  await card.getByText(`process ${process.pid}`).waitFor()
  await card.getByText(/^1 of \d+ slots$/).waitFor()
  await card.getByText(/^heartbeat .* ago$/).waitFor()
  await card.getByRole('list', { name: 'Present tasks' }).getByRole('link').click()
  await page.waitForURL(`**/tasks/${id}`)
  expect(complaints).toEqual([])
})

test('a worker that is paused takes nothing until it is resumed', async () => {
  await using other = await another()
  const { page } = await dashboard.visit('/workers')
  const card = workers(page).filter({ hasText: 'the-other-one' }).filter({ hasText: 'at work' })
  await card.getByRole('button', { name: 'Pause' }).click()
  const paused = workers(page).and(page.locator('[data-state="paused"]'))
  await paused.getByText('asked by').waitFor()
  await waitFor(async () => ((await told()).some(({ wanted }) => wanted === 'paused') ? true : undefined))
  await paused.getByRole('button', { name: 'Resume' }).click()
  await paused.waitFor({ state: 'detached' })
  const { id } = await other.millrace.add(other.kind, null)
  await other.begun
  expect((await dashboard.server.ask('GET', `/v1/tasks/${id}`)).json.state).toBe('running')
})

test('draining asks first and names the worker', async () => {
  await using other = await another()
  const { page } = await dashboard.visit('/workers')
  const card = workers(page).filter({ hasText: 'the-other-one' }).filter({ hasText: 'at work' })
  await card.getByRole('button', { name: 'Drain' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByRole('listitem').getByText('the-other-one').waitFor()
  await dialog.getByRole('button', { name: 'Drain' }).click()
  await workers(page).and(page.locator('[data-state="draining"]')).waitFor()
  expect((await told()).find(({ name }) => name === 'the-other-one')?.wanted).toBe('draining')
  expect(other.kind).toBeDefined()
})

test('those that have stopped are shown when they are asked for', async () => {
  const { page } = await dashboard.visit('/workers')
  await workers(page).first().waitFor()
  expect(await workers(page).filter({ hasText: 'the-other-one' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Show those that are gone' }).click()
  await page.waitForURL(/all=1/)
  await workers(page).filter({ hasText: 'the-other-one' }).filter({ hasText: 'stopped' }).first().waitFor()
})

test('a queue with work and no worker is warned of', async () => {
  await dashboard.graph.add({ queue: 'nobody-there' })
  const { page } = await dashboard.visit('/workers')
  const warning = page.getByRole('status').filter({ hasText: 'nobody-there' })
  await warning.waitFor()
  await warning.getByRole('link').click()
  await page.waitForURL(/queue%3Anobody-there/)
})

test('a viewer may not act, in the page and on the server; a phone does not scroll sideways', async () => {
  const nodes = speaking(() => dashboard.server)
  const [busy] = await nodes.add(sleeping(3600))
  const { page } = await dashboard.visit('/workers', { role: 'viewer', width: 360, height: 740 })
  const pause = workers(page).first().getByRole('button', { name: 'Pause' })
  await pause.waitFor()
  expect(await pause.getAttribute('title')).toContain('needs the role operator')
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  const [{ id }] = (await told()) as [Told]
  const status = await page.evaluate(
    async (worker) => (await fetch(`/v1/workers/${worker}/pause`, { method: 'POST' })).status,
    id,
  )
  expect(status).toBe(403)
  await nodes.ask('PUT', `/v1/scheduler/kill?id=${busy}`)
})
