import { type Browser, chromium, type Page } from 'playwright-core'
import { type Claim, figures, freshStore, quantile } from '../harness/bench.ts'
import { type Server, startServer } from '../harness/server.ts'
import { fillLoom } from './loom.ts'

const PAINT = 'answer to picture, median'
const CHANGE = 'change to picture, median'
const MOST_PAINT_MS = 300
const MOST_CHANGE_MS = 200
const LOADS = 10

async function signedIn(server: Server, browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const { url } = await server.ask<{ url: string }>('POST', '/v1/sign-in-links', { role: 'admin', name: 'bench' })
  await page.goto(url)
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}

const untilDrawnAfter = (page: Page, from: number): Promise<number> =>
  page
    .waitForFunction((after) => {
      const drawn = performance.getEntriesByName('loom-drawn')[0]
      return drawn !== undefined && performance.timeOrigin + drawn.startTime > after
        ? performance.timeOrigin + drawn.startTime
        : undefined
    }, from)
    .then((found) => found.jsonValue() as Promise<number>)

/** From the last byte of the answer to the first picture. The page is loaded anew each time. */
async function paints(page: Page, server: Server): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i <= LOADS; i++) {
    await page.goto('about:blank')
    await page.addInitScript(() => {
      const drawn: number[] = []
      Object.assign(globalThis, { drawn })
      new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === 'loom-drawn') drawn.push(startTime)
      }).observe({ type: 'mark' })
    })
    await page.goto(`${server.url}/archives/bench`)
    const took = await page.waitForFunction(() => {
      const answer = performance.getEntriesByType('resource').find(({ name }) => name.includes('/loom')) as
        | { responseEnd: number }
        | undefined
      const { drawn } = globalThis as unknown as { drawn: number[] }
      const first = drawn.find((at) => answer !== undefined && at > answer.responseEnd)
      return answer === undefined || first === undefined ? undefined : first - answer.responseEnd
    })
    if (i > 0) times.push((await took.jsonValue()) as number)
  }
  return times
}

/** From asking the server for a change of one task to the picture of it: request, transaction, event and drawing. */
async function changes(page: Page, server: Server, samples: number): Promise<number[]> {
  await page.getByRole('button', { name: /^live/ }).waitFor()
  const task = encodeURIComponent('bench@400:task-10')
  const times: number[] = []
  for (let i = 0; i < samples; i++) {
    const wanted = i % 2 === 0 ? 'held' : 'waiting'
    const from = Date.now()
    await server.ask('POST', `/v1/tasks/${task}/${i % 2 === 0 ? 'hold' : 'release'}`, {})
    await page
      .getByRole('gridcell', { name: new RegExp(`^revision 400, task-10, ${wanted}`) })
      .waitFor({ state: 'attached' })
    times.push((await untilDrawnAfter(page, from)) - from)
  }
  return times
}

async function look(databaseUrl: string, samples: number) {
  // Nobody performs anything: the tasks stay where they are.
  const server = await startServer(databaseUrl, { MILLRACE_RATE_LIMIT: '0', MILLRACE_QUEUES: 'nothing' })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    await fillLoom(server, 400)
    const page = await signedIn(server, browser)
    return { paints: await paints(page, server), changes: await changes(page, server, samples) }
  } finally {
    await browser.close()
    await server.stop()
  }
}

export const dashboardLoom: Claim = {
  name: 'dashboard-loom',
  about: 'the loom in Chromium: 100 revisions by 50 tasks',
  async measure(bench) {
    const found = figures()
    if (bench.takesPart('millrace')) {
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        const times = await look(await freshStore(bench, 'millrace'), 20)
        found.note('millrace', PAINT, 'ms', quantile(times.paints, 0.5))
        found.note('millrace', CHANGE, 'ms', quantile(times.changes, 0.5))
      }
    }
    const [paint, change] = [found.of('millrace', PAINT), found.of('millrace', CHANGE)]
    const verdict = (what: string, ms: number, most: number) => ({
      bar: `${what} within ${most} ms`,
      reached: Number.isNaN(ms) ? 'not measured' : `${ms.toFixed(0)} ms`,
      held: Number.isNaN(ms) ? null : ms <= most,
    })
    return {
      claim: `${dashboardLoom.about} (${LOADS} loads, 20 changes)`,
      rows: found.rows,
      verdicts: [
        verdict('painted after the data have come', paint, MOST_PAINT_MS),
        verdict('a change is seen', change, MOST_CHANGE_MS),
      ],
      notes: ['A change is counted from the request that makes it, so that the time of the server is in it.'],
    }
  },
}
