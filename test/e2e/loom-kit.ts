// What tests of the loom share: a watched repository, cells, and the colours of the canvas.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { commitFiles, DOCUMENT } from '../archives.ts'
import { waitFor } from '../processes.ts'
import type { Ground, Plain } from '../repositories/ground.ts'
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
