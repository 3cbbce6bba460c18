// The screen of events: what happens, any moment that is kept, and who did what.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deferred } from '../engine.ts'
import { waitFor } from '../processes.ts'
import { aDashboard, brokenWords, type Dashboard, linesOf } from './kit.ts'

const TASKS = 401 // each is created, ready, claimed and ended

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await aDashboard()
  for (let i = 0; i < TASKS - 1; i++) await dashboard.graph.add({ scope: 'plenty', key: `task-${i}` })
  await dashboard.graph.add({ scope: 'rare', key: 'bad', payload: 'broken' })
  await dashboard.graph.perform()
  // Events get their numbers when a reader asks for them. A page that is open at that moment shows them all as new.
  await waitFor(async () => {
    const headers = { accept: 'application/json' }
    const { json } = await dashboard.server.ask('GET', '/v1/events?after=newest', { headers })
    return Number(json.position) >= 4 * TASKS ? true : undefined
  })
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

test('the newest events are there, those before when asked for, and new ones come by themselves', async () => {
  const { page, complaints } = await dashboard.visit('/events')
  const rows = page.getByRole('table', { name: 'Events' }).getByRole('row')
  await rows.nth(100).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  const before = await rows.count()
  await dashboard.graph.add({ scope: 'rare', key: 'comes by itself' })
  await page.getByRole('link', { name: 'rare/comes by itself' }).first().waitFor()
  await page.getByRole('button', { name: 'Earlier' }).click()
  await rows.nth(before + 100).waitFor()
  expect(complaints).toEqual([])
})

test('what somebody waits for comes, although the newest are read anew meanwhile', async () => {
  const { page } = await dashboard.visit('/events')
  const rows = page.getByRole('table', { name: 'Events' }).getByRole('row')
  await rows.nth(100).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  // Of the pages that are read from now on the first one, that of `Earlier`, comes last.
  let asked = 0
  const isNewestRead = deferred()
  await page.route(/\/v1\/events\?.*limit=/, async (route) => {
    asked += 1
    if (asked === 1) await isNewestRead.promise
    await route.continue().catch(() => {}) // nobody waits for it any more
  })
  const before = await rows.count()
  await page.getByRole('button', { name: 'Earlier' }).click()
  await expect.poll(() => asked).toBe(1)
  // A stream that begins anew has the newest read anew.
  await page.getByRole('button', { name: /^live/ }).click()
  await page.getByRole('button', { name: /^paused/ }).click()
  await expect.poll(() => asked).toBeGreaterThan(1)
  isNewestRead.resolve()
  await rows.nth(before + 100).waitFor()
})

test('a pause keeps what is shown, and counts what comes', async () => {
  const { page } = await dashboard.visit('/events?scope=paused')
  await page.getByText('Nothing like this has happened').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await dashboard.graph.add({ scope: 'paused', key: 'one' })
  await page.getByRole('button', { name: /^Go on: \d+ new$/ }).waitFor()
  expect(await page.getByRole('link', { name: 'paused/one' }).count()).toBe(0)
  await page.getByRole('button', { name: /^Go on/ }).click()
  await page.getByRole('link', { name: 'paused/one' }).first().waitFor()
})

test('several scopes are heard at once; a pause outlasts an interruption, and what came meanwhile is there afterwards', async () => {
  const { page } = await dashboard.visit('/events?scope=left,right')
  await page.getByText('Nothing like this has happened').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await dashboard.graph.add({ scope: 'right', key: 'one' })
  const [one, two] = ['right/one', 'left/two'].map((name) => page.getByRole('link', { name }).first())
  await one?.waitFor()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByRole('button', { name: /^live/ }).click()
  await dashboard.graph.add({ scope: 'left', key: 'two' })
  await page.getByRole('button', { name: /^paused/ }).click()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByRole('button', { name: 'Go on' }).waitFor()
  expect([await one?.isVisible(), await two?.count()]).toEqual([true, 0])
  await page.getByRole('button', { name: 'Go on' }).click()
  await two?.waitFor()
  expect(await one?.isVisible()).toBe(true)
})

test('a filter finds what is rare, its address is a link, and a moment has one, too', async () => {
  const { page } = await dashboard.visit('/events')
  await page.getByRole('combobox', { name: 'Filter events' }).waitFor()
  await page.keyboard.press('/')
  await page.locator('[data-filter]:focus').waitFor()
  await page.keyboard.type('scope:rare name:failed')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/events?scope=rare&topics=failed')
  const table = page.getByRole('table', { name: 'Events' })
  // The rows of before are there until the answer is.
  await expect.poll(() => table.getByRole('row').count()).toBe(2)
  await table.getByRole('link', { name: 'rare/bad' }).waitFor()
  await table.getByTitle('Link to this moment').click()
  await page.waitForURL(/after=\d+/)
  await page.getByRole('button', { name: 'Take out name:failed' }).click()
  await page.waitForURL('**/events?scope=rare')
})

test('what fits the filter is saved, one event to a line', async () => {
  const { page } = await dashboard.visit('/events?scope=rare&topics=failed')
  await page.getByRole('link', { name: 'rare/bad' }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'NDJSON' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('events.ndjson')
  let text = ''
  for await (const chunk of await download.createReadStream()) text += String(chunk)
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events).toEqual([expect.objectContaining({ scope: 'rare', key: 'bad', name: 'failed', to: 'failed' })])
})

test('an admin sees who did what, and a viewer learns that it is for admins', async () => {
  const id = await dashboard.graph.add({ scope: 'rare', key: 'to be held' })
  await dashboard.server.ask('POST', `/v1/tasks/${id}/hold`)
  const { page } = await dashboard.visit('/events?tab=audit&action=tasks.hold')
  const row = page.getByRole('table', { name: 'Audit' }).getByRole('row').nth(1)
  await row.getByText('tasks.hold').waitFor()
  await row.getByText('done, 200').waitFor()
  const viewer = await dashboard.visit('/events?tab=audit', { role: 'viewer' })
  await viewer.page.getByRole('alert').getByText('this needs the role admin').waitFor()
})

test('the tables of events break lines between words', async () => {
  const key = '1234:publish_everything/to-all-mirrors.yaml'
  const id = await dashboard.graph.add({ scope: 'archive:Handbook-of-Mills', key })
  const { json: created } = await dashboard.server.ask('POST', '/v1/tokens', {
    body: { name: 'continuous-integration of Handbook', role: 'operator' },
  })
  await dashboard.server.ask('POST', `/v1/tasks/${encodeURIComponent(`Handbook-of-Mills@${key}`)}/hold`, {
    token: created.secret,
  })
  await dashboard.server.ask('POST', `/v1/tasks/${id}/release`)
  const { page } = await dashboard.visit('/events?tab=audit&action=tasks.hold', { width: 1440 })
  for (const tab of ['Audit', 'Events']) {
    if (tab === 'Events') await page.goto(`${dashboard.address}/events?scope=archive:Handbook-of-Mills`)
    const table = page.getByRole('table', { name: tab })
    await table.getByRole('row').filter({ hasText: 'to-all-mirrors.yaml' }).first().waitFor()
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 768 })
      await expect.poll(() => brokenWords(table), { message: `${tab} at ${width} pixels` }).toEqual([])
    }
  }
})

test('on a phone the events fit', async () => {
  const { page } = await dashboard.visit('/events', { width: 360, height: 740 })
  const rows = page.getByRole('table', { name: 'Events' }).getByRole('row')
  await rows.nth(50).waitFor()
  const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  await expect.poll(isWide).toBe(false)
  const id = await dashboard.graph.add({ scope: 'rare', key: 'seen on a phone' })
  await dashboard.server.ask('POST', `/v1/tasks/${id}/hold`)
  await page.goto(`${dashboard.address}/events?scope=rare&topics=held`)
  const held = rows.filter({ hasText: 'rare/seen on a phone' })
  await held.locator('.state').getByText('held').waitFor()
  await held.getByText('admin').waitFor()
  await expect.poll(() => linesOf(held.locator('time'))).toBe(1)
  await expect.poll(() => linesOf(held.getByRole('link', { name: 'rare/seen on a phone' }))).toBe(1)
  await page.getByRole('tab', { name: 'Who did what' }).click()
  const entry = page
    .getByRole('table', { name: 'Audit' })
    .getByRole('row')
    .filter({ hasText: 'session.sign_in' })
    .first()
  await entry.getByText('done, 204').waitFor()
  await expect.poll(() => linesOf(entry.locator('time'))).toBe(1)
  await expect.poll(isWide).toBe(false)
})
