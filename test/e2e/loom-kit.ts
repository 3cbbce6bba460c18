// What tests of the loom share: a watched repository, cells, and the colours of the canvas.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { announce, commitFiles, DOCUMENT, planned } from '../archives.ts'
import { waitFor } from '../processes.ts'
import type { Ground, Plain } from '../repositories/ground.ts'
import { loadHistory } from '../repositories/svn.ts'
import type { Dashboard } from './kit.ts'

type Place = { readonly dashboard: Dashboard; readonly ground: Ground }

export const pathOf = (name: string) => `/archives/${encodeURIComponent(name)}`

/** A repository with that many revisions of the document's workflow, watched from its first revision on. */
export async function aWatched({ dashboard, ground }: Place, name: string, revisions: number): Promise<Plain> {
  const plain = await ground.create()
  for (let rev = 1; rev <= revisions; rev += 1)
    await commitFiles(
      plain,
      rev === 1 ? { '_workflows/a.yaml': DOCUMENT } : { 'a.txt': String(rev) },
      `change ${rev}`,
      'ada',
    )
  const made = await dashboard.server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: plain.options, from: 1 } })
  expect(made.status).toBe(201)
  return plain
}

export const cell = (page: Page, name: string | RegExp) => page.getByRole('gridcell', { name })
export const rail = (page: Page) => page.getByRole('complementary', { name: 'The focused cell' })

/** Counts the requests for pages of the loom from now on, and says when none is to come any more. */
export function countPages(page: Page): { readonly asked: string[]; readonly quiet: () => Promise<void> } {
  const asked: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname.endsWith('/loom')) asked.push(url.search)
  })
  // What events have outdated is asked for again within a second.
  const quiet = () =>
    waitFor(async () => {
      const before = asked.length
      await page.waitForFunction(
        (from) => performance.now() - from > 1500,
        await page.evaluate(() => performance.now()),
      )
      return before === asked.length ? true : undefined
    }).then(() => undefined)
  return { asked, quiet }
}

/** The colour of the canvas in the middle of a cell, or beside it. */
export const colourAt = (page: Page, name: string | RegExp, dx = 0): Promise<string> =>
  cell(page, name).evaluate((element, offset) => {
    const canvas = document.querySelector<HTMLCanvasElement>('.loom-canvas')
    if (canvas === null) return 'no canvas'
    const [box, sheet] = [element.getBoundingClientRect(), canvas.getBoundingClientRect()]
    const x = (box.x + box.width / 2 + offset - sheet.x) * devicePixelRatio
    const y = (box.y + box.height / 2 - sheet.y) * devicePixelRatio
    // By a copy: the browser complains of reading from what is drawn to.
    const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    copy?.drawImage(canvas, Math.floor(x), Math.floor(y), 1, 1, 0, 0, 1, 1)
    return [...(copy?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3).join(' ')
  }, dx)

export const token = (page: Page, name: string): Promise<string> =>
  page.evaluate((property) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(property).trim().slice(1)
    return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(' ')
  }, name)

export const untilColour = async (page: Page, name: string | RegExp, property: string, dx = 0) => {
  // Both each time: the theme may be about to change.
  await waitFor(async () => ((await colourAt(page, name, dx)) === (await token(page, property)) ? true : undefined))
}

/** Goes through a long loom: each page is asked for once, what is drawn is bounded, and new rows are counted. */
export async function scrollThrough({ dashboard, ground }: Place, name: string, revisions: number): Promise<void> {
  const { server } = dashboard
  const plain = await ground.create()
  await loadHistory(plain.path, revisions, {
    '_workflows/a.yaml': '- { name: build-PDF, command: make pdf, depends: PREV }\n',
  })
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: plain.options, from: 1 } })
  // In parts: each may take as long as a test waits.
  for (let number = 500; number < revisions; number += 500) await planned(server, name, number)
  await planned(server, name, revisions)
  const { page } = await dashboard.visit()
  const { asked } = countPages(page)
  await page.goto(dashboard.address + pathOf(name))
  await cell(page, new RegExp(`^revision ${revisions}, COMMIT`)).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(revisions + 1))
  const scroller = page.locator('.loom-scroll')
  const elements = () => page.evaluate(() => document.querySelectorAll('.loom *').length)
  const first = await elements()
  const scrollTo = async (number: number) => {
    await scroller.evaluate((element, rows) => {
      element.scrollTop = rows * 30
    }, revisions - number)
    await cell(page, new RegExp(`^revision ${Math.max(1, number - 2)}, COMMIT, `)).waitFor()
  }
  for (let number = revisions - 100; number > 100; number -= 100) await scrollTo(number)
  await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await cell(page, /^revision 1, COMMIT, /).waitFor()
  const there = asked.length
  // A page has a hundred; the newest is asked for once more when the stream begins.
  expect(there).toBeGreaterThanOrEqual(revisions / 100)
  expect(there).toBeLessThanOrEqual(revisions / 100 + 3)
  expect(await elements()).toBeLessThan(first * 2)
  for (let number = 300; number < revisions - 100; number += revisions / 10) await scrollTo(number)
  expect(asked.length).toBe(there)
  const middle = revisions / 2
  const ofMiddle = cell(page, new RegExp(`^revision ${middle}, build-PDF, `))
  await page.goto(`${dashboard.address}${pathOf(name)}?at=r${middle}&task=build-PDF`)
  await page.locator('[role=gridcell][tabindex="0"]').and(ofMiddle).waitFor()
  // The newest page and two around the cell; and again when the stream begins, since nothing of it has ended.
  expect(asked.length - there).toBeLessThanOrEqual(6)
  await commitFiles(plain, { 'a.txt': 'one more' }, 'one more', 'ada')
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await announce(server, name, revisions + 1)
  await page.getByRole('button', { name: /1 new/ }).waitFor()
  await ofMiddle.waitFor()
  await page.getByRole('button', { name: /1 new/ }).click()
  await cell(page, new RegExp(`^revision ${revisions + 1}, COMMIT, `)).waitFor()
  await page.getByRole('button', { name: /1 new/ }).waitFor({ state: 'detached' })
}
