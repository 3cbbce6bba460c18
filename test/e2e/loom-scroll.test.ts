import { afterAll, beforeAll, expect, test } from 'vitest'
import { announce, commitFiles, performing, planned, untilState } from '../archives.ts'
import { waitFor } from '../processes.ts'
import type { Ground } from '../repositories/ground.ts'
import { loadHistory, svnFiles } from '../repositories/svn.ts'
import { aDashboard, type Dashboard } from './kit.ts'
import { aWatched, cell, colourAt, countPages, pathOf, token, untilColour } from './loom-kit.ts'

let dashboard: Dashboard
let ground: Ground

beforeAll(async () => {
  dashboard = await aDashboard({ poll_seconds: 3600, queues: 'nothing-of-this-server' })
  ground = await svnFiles()
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await ground[Symbol.asyncDispose]()
})

let names = 0
const freshName = (word = 'Loom') => {
  names += 1
  return `${word}-${names}`
}
test('it is drawn when something changes and at no other time, and in the colours of the theme', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.block('1:build-PDF')
  await aWatched({ dashboard, ground }, name, 1)
  await untilState(server, `${name}@1:build-PDF`, 'running')
  const { page } = await dashboard.visit(pathOf(name))
  await untilColour(page, 'revision 1, indexing, succeeded', '--state-succeeded')
  await page.getByRole('button', { name: /^live/ }).waitFor()
  const drawn = () => page.evaluate(() => performance.getEntriesByName('loom-drawn')[0]?.startTime)
  const still = async () => {
    const before = await drawn()
    // The times on the page tick meanwhile.
    await page.waitForFunction((from) => performance.now() - from > 1500, await page.evaluate(() => performance.now()))
    return before === (await drawn())
  }
  await waitFor(async () => ((await still()) ? true : undefined))
  const before = await drawn()
  await page.getByRole('button', { name: /^Theme/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await untilColour(page, 'revision 1, indexing, succeeded', '--state-succeeded')
  await expect.poll(drawn).toBeGreaterThan(before ?? 0)
  await page.emulateMedia({ forcedColors: 'active' })
  await waitFor(async () => {
    const dark = await token(page, '--state-succeeded')
    return (await colourAt(page, 'revision 1, indexing, succeeded')) === dark ? undefined : true
  })
})

test('paused, it stands still; resumed, it is true again', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.block('1:build-PDF')
  await aWatched({ dashboard, ground }, name, 1)
  await untilState(server, `${name}@1:build-PDF`, 'running')
  const { page } = await dashboard.visit(pathOf(name))
  await page.getByRole('button', { name: /^live/ }).click()
  await page.getByRole('button', { name: /^paused/ }).waitFor()
  work.free('1:build-PDF')
  await untilState(server, `${name}@1:build-PDF`, 'succeeded')
  await cell(page, 'revision 1, build-PDF, running').waitFor()
  await page.getByRole('button', { name: /^paused/ }).click()
  await cell(page, 'revision 1, build-PDF, succeeded').waitFor()
})

test('5,000 revisions are scrolled with each page asked for once and a bounded page', {
  timeout: 600_000,
}, async () => {
  const { server } = dashboard
  const name = freshName('Long')
  const plain = await ground.create()
  await loadHistory(plain.path, 5000, {
    '_workflows/a.yaml': '- { name: build-PDF, command: make pdf, depends: PREV }\n',
  })
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: plain.options, from: 1 } })
  for (let number = 500; number <= 5000; number += 500) await planned(server, name, number)
  const { page } = await dashboard.visit()
  const { asked } = countPages(page)
  await page.goto(dashboard.address + pathOf(name))
  await cell(page, /^revision 5000, COMMIT/).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('5001')
  const scroller = page.locator('.loom-scroll')
  const elements = () => page.evaluate(() => document.querySelectorAll('.loom *').length)
  const first = await elements()
  const scrollTo = async (number: number) => {
    await scroller.evaluate((element, row) => {
      element.scrollTop = (5000 - row) * 30
    }, number)
    await cell(page, new RegExp(`^revision ${Math.max(1, number - 2)}, COMMIT, `)).waitFor()
  }
  for (let number = 4900; number > 100; number -= 100) await scrollTo(number)
  await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await cell(page, /^revision 1, COMMIT, /).waitFor()
  const there = asked.length
  // Fifty pages; the newest is asked for once more when the stream begins.
  expect(there).toBeGreaterThanOrEqual(50)
  expect(there).toBeLessThanOrEqual(53)
  expect(await elements()).toBeLessThan(first * 2)
  for (let number = 300; number < 4900; number += 500) await scrollTo(number)
  expect(asked.length).toBe(there)
  await page.goto(`${dashboard.address}${pathOf(name)}?at=r2500&task=build-PDF`)
  await page
    .locator('[role=gridcell][tabindex="0"]')
    .and(cell(page, /^revision 2500, build-PDF, /))
    .waitFor()
  // The newest page and two around the cell; and again when the stream begins, since nothing of it has ended.
  expect(asked.length - there).toBeLessThanOrEqual(6)
  await commitFiles(plain, { 'a.txt': 'one more' }, 'one more', 'ada')
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await announce(server, name, 5001)
  await page.getByRole('button', { name: /1 new/ }).waitFor()
  await cell(page, /^revision 2500, build-PDF, /).waitFor()
  await page.getByRole('button', { name: /1 new/ }).click()
  await cell(page, /^revision 5001, COMMIT, /).waitFor()
  await page.getByRole('button', { name: /1 new/ }).waitFor({ state: 'detached' })
})
