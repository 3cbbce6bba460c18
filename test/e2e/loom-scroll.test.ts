import { afterAll, beforeAll, expect, test } from 'vitest'
import { performing, planned, untilState } from '../archives.ts'
import { waitFor } from '../processes.ts'
import type { Ground } from '../repositories/ground.ts'
import { svnFiles } from '../repositories/svn.ts'
import { aDashboard, type Dashboard } from './kit.ts'
import { aWatched, cell, colourAt, pathOf, scrollThrough, token, untilColour } from './loom-kit.ts'

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

test('heads of columns and revisions stay in sight, in light and dark, on wide screens and phones', async () => {
  const { server } = dashboard
  const name = freshName('Wide')
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: { type: 'push' }, from: 1 } })
  const tasks = Array.from({ length: 40 }, (_, i) => ({ name: `task-${i}`, command: ['true'] }))
  for (let rev = 1; rev <= 30; rev += 1)
    await server.ask('POST', `/v1${pathOf(name)}/commits`, { body: { rev, tasks, message: `change ${rev}` } })
  await planned(server, name, 30)
  const { page } = await dashboard.visit(pathOf(name), { width: 1440, height: 900 })
  await page.getByRole('button', { name: /^live/ }).waitFor()
  for (const [width, height, theme] of [
    [1440, 900, 'light'],
    [1024, 768, 'dark'],
    [390, 844, 'dark'],
    [390, 664, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: theme })
    const box = page.locator(width > 720 ? '.loom-scroll' : '.loom-list')
    await box.waitFor()
    const look = () =>
      box.evaluate((element) => {
        element.scrollTo(element.scrollWidth, element.scrollHeight)
        scrollTo(0, document.documentElement.scrollHeight)
        const at = (selector: string) =>
          [...element.querySelectorAll(selector)].filter((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect()
            const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
            return found !== null && (one.contains(found) || found.contains(one)) && element.contains(found)
          }).length
        const isOpaque = [...element.querySelectorAll('.loom-head, .loom-list-heads, .loom-side')].every(
          (one) => !getComputedStyle(one).backgroundColor.startsWith('rgba'),
        )
        const [heads, revisions] = [at('.loom-column-name, .loom-list-heads span'), at('.loom-number')]
        return { isOpaque, hasHeads: heads > 5, hasRevisions: revisions > 2, hasOldest: at('[href$="/r/1"]') }
      })
    await expect
      .poll(look, { message: `${width} x ${height}, ${theme}` })
      .toEqual({ isOpaque: true, hasHeads: true, hasRevisions: true, hasOldest: 1 })
  }
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

test('300 revisions are scrolled with each page asked for once and a bounded page', () =>
  scrollThrough({ dashboard, ground }, freshName('Long'), 300))
