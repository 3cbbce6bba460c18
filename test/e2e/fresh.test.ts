// What is shown is as it is by now: after a pause, on the way back, after another attempt, and when something cannot be had.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { folder } from '../repositories/ground.ts'
import { aDashboard, type Dashboard } from './kit.ts'
import { cell, rail } from './loom-kit.ts'

let dashboard: Dashboard
let place: Awaited<ReturnType<typeof folder>>

beforeAll(async () => {
  place = await folder()
  dashboard = await aDashboard()
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await place[Symbol.asyncDispose]()
})

test('a list that was paused shows the states that its tasks have come to meanwhile', async () => {
  const { graph, server } = dashboard
  const id = await graph.add({ scope: 'paused', key: 'changes', payload: 'broken' })
  const { page } = await dashboard.visit('/tasks?q=scope:paused')
  const row = page.getByRole('row').filter({ hasText: 'changes' })
  await row.getByText('ready').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await graph.perform()
  await row.getByText('failed').waitFor()
  await page.getByRole('button', { name: /^live/ }).click()
  await page.getByRole('button', { name: /^paused/ }).waitFor()
  await server.ask('POST', `/v1/tasks/${id}/retry`)
  await page.getByRole('button', { name: /^paused/ }).click()
  await row.getByText('ready').waitFor()
})

test('a page of a list that cannot be had is asked for again by the button, and not by itself', async () => {
  for (let i = 0; i < 120; i += 1) await dashboard.graph.add({ scope: 'long', key: `row-${i}` })
  const { page } = await dashboard.visit()
  let asked = 0
  const next = /\/v1\/tasks\?.*cursor=/
  const problem = { type: 'about:blank', code: 'internal', title: 'It broke', status: 500, detail: 'no page' }
  await page.route(next, (route) => {
    asked += 1
    return route.fulfill({ status: 500, json: { ...problem, request_id: 'r' } })
  })
  await page.goto(`${dashboard.address}/tasks?q=scope:long`)
  await page.getByRole('link', { name: 'long/row-119' }).waitFor()
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await page.getByRole('alert').getByText('It broke').waitFor()
  await page.evaluate(async () => {
    for (let i = 0; i < 20; i += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
  })
  // The first hello of the stream may have come between, with which the list is fetched again.
  expect(asked).toBeLessThanOrEqual(2)
  await page.unroute(next)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('120 in all').waitFor()
})

test('a task that one comes back to at once is as it is by now', async () => {
  const { graph, address } = dashboard
  const id = await graph.add({ scope: 'left', key: 'and come back to' })
  const { page } = await dashboard.visit('/tasks?q=scope:left')
  // However slow this machine is, no more than a second passes: what is older is fetched again in any case.
  const now = Date.now()
  await page.clock.setFixedTime(now)
  await page.reload()
  const link = page.getByRole('link', { name: 'left/and come back to' })
  await link.click()
  await page.waitForURL(`${address}/tasks/${id}`)
  const state = page.locator('.page-summary')
  await state.getByText('ready').waitFor()
  await page.clock.setFixedTime(now + 1_000)
  await page.goBack()
  await link.waitFor()
  await graph.perform()
  await page.getByRole('row').filter({ hasText: 'and come back to' }).getByText('succeeded').waitFor()
  await link.click()
  await state.getByText('succeeded').waitFor()
})

test('beside the loom stand the last lines of a log when the task has ended, and the facts of its last attempt', async () => {
  const { server } = dashboard
  const file = join(place.path, 'go on')
  const script = `echo begun; while [ ! -e '${file}' ]; do sleep 0.05; done; echo the last line; exit 3`
  await server.ask('PUT', '/v1/archives/Mill', { body: { source: { type: 'push' }, from: 1 } })
  const tasks = [{ name: 'grind', command: ['sh', '-c', script] }]
  await server.ask('POST', '/v1/archives/Mill/commits', { body: { rev: 1, tasks } })
  const { page } = await dashboard.visit('/archives/Mill?at=r1&task=grind')
  const log = rail(page).getByRole('log')
  await log.getByText('begun').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await writeFile(file, '')
  await cell(page, /^revision 1, grind, failed/).waitFor()
  await log.getByText('the last line').waitFor()
  expect(await rail(page).getByText('Attempts').count()).toBe(0)
  await rail(page).getByRole('button', { name: 'Retry' }).click()
  await rail(page).getByText('Attempts').waitFor()
  await cell(page, /^revision 1, grind, failed/).waitFor()
  await rail(page).getByText('Attempts').waitFor()
})

test('a session that has ended leads to the sign-in, whether a screen or the stream learns of it', async () => {
  const signIn = 'Sign in'
  // Nothing of this screen is asked for again.
  const first = await dashboard.visit('/settings/appearance')
  await first.page.getByRole('button', { name: /^live/ }).waitFor()
  await first.context.clearCookies()
  await first.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Workers' }).click()
  await first.page.getByRole('heading', { name: signIn, exact: true }).waitFor()
  const second = await dashboard.visit('/settings/appearance')
  await second.page.getByRole('button', { name: /^live/ }).waitFor()
  await second.context.clearCookies()
  await second.page.getByRole('button', { name: /^live/ }).click()
  await second.page.getByRole('button', { name: /^paused/ }).click()
  await second.page.getByRole('heading', { name: signIn, exact: true }).waitFor()
})
