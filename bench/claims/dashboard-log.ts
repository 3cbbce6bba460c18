import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { type Claim, figures, freshStore, median } from '../harness/bench.ts'
import { type Server, startServer } from '../harness/server.ts'

const LINES = 200_000
const PAINT = 'address opened → first lines drawn'
const SHORT = 'the same of a log of 20 lines'
const GROWTH = 'memory after 60 jumps'
const REQUESTS = 'requests for lines, 60 jumps'
const SEARCH = 'whole log searched'
const LIMIT_MS = 500
const LIMIT_MB = 15
const JUMPS = 60

type Node = { metadata: { id: string; task: string } }

/** A command that prints the lines, performed by the server. */
async function writeLog(server: Server, lines: number): Promise<string> {
  const metadata = { type: 'shell command', parent: 'root' }
  const data = { command: `seq -f 'line number %.0f of a long log' ${lines}` }
  const [node] = await server.ask<[Node]>('POST', '/v1/nodes', [{ metadata, data }])
  await server.ask('GET', `/v1/scheduler/wait?id=${node.metadata.id}`)
  return (await server.ask<Node>('GET', `/v1/nodes/${node.metadata.id}`)).metadata.task
}

// What runs in the page is text: the bench itself knows no browser.

/** Notes in the page when the first lines of the log were drawn. */
const WATCH = `
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll('.log-row .log-text').length < 10) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => performance.mark('log-drawn')))
  })
  observer.observe(document, { childList: true, subtree: true })
`

async function drawnAt(page: Page): Promise<number> {
  const found = await page.waitForFunction(`performance.getEntriesByName('log-drawn')[0]?.startTime`)
  return Number(await found.jsonValue())
}

async function heapMegabytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 1024 / 1024
}

async function jumpAbout(page: Page): Promise<void> {
  for (let i = 1; i <= JUMPS; i++) {
    const part = (i * 37) % 100
    const line = Math.max(1, Math.round((LINES * part) / 100) + 3)
    await page.evaluate(`{
      const box = document.querySelector('.log-box')
      box.scrollTop = (box.scrollHeight * ${part}) / 100
    }`)
    await page.waitForFunction(`
      document.querySelector('[data-line="${line}"]') !== null && document.querySelector('.log-pending') === null
    `)
  }
}

async function openLog(browser: Browser, server: Server) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true })
  const page = await context.newPage()
  const { url } = await server.ask<{ url: string }>('POST', '/v1/sign-in-links', { role: 'viewer', name: 'bench' })
  await page.goto(url)
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.addInitScript({ content: WATCH })
  return { context, page }
}

async function look(browser: Browser, server: Server, { task, short }: { task: string; short: string }) {
  const { context, page } = await openLog(browser, server)
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes('/log/lines')) requests += 1
  })
  await page.goto(`${server.url}/tasks/${short}/log`)
  const shortPaint = await drawnAt(page)
  await page.goto(`${server.url}/tasks/${task}/log`)
  const paint = await drawnAt(page)
  requests = 0
  const session = await context.newCDPSession(page)
  const before = await heapMegabytes(session)
  await jumpAbout(page)
  const growth = (await heapMegabytes(session)) - before
  const asked = requests
  const from = performance.now()
  const query = `q=${encodeURIComponent('number 199999 ')}`
  for (let line: number | null = 1; line !== null; ) {
    const path: string = `/v1/tasks/${task}/log/search?${query}&from_line=${line}`
    line = (await server.ask<{ next_line: number | null }>('GET', path)).next_line
  }
  const search = performance.now() - from
  await context.close()
  return { paint, shortPaint, growth, requests: asked, search }
}

export const dashboardLog: Claim = {
  name: 'dashboard-log',
  about: `a log of ${LINES.toLocaleString('en')} lines in the dashboard, in Chromium`,
  async measure(bench) {
    const found = figures()
    if (bench.takesPart('millrace')) {
      const server = await startServer(await freshStore(bench, 'millrace'), { MILLRACE_RATE_LIMIT: '0' })
      const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium-headless-shell',
        args: ['--no-sandbox', '--disable-gpu'],
      })
      try {
        const tasks = { task: await writeLog(server, LINES), short: await writeLog(server, 20) }
        for (let round = 0; round <= bench.rounds; round++) {
          const { paint, shortPaint, growth, requests, search } = await look(browser, server, tasks)
          // The first one fills the caches of the server and the browser.
          if (round === 0) continue
          found.note('millrace', PAINT, 'ms', paint)
          found.note('millrace', SHORT, 'ms', shortPaint)
          found.note('millrace', GROWTH, 'MB', growth)
          found.note('millrace', REQUESTS, '', requests)
          found.note('millrace', SEARCH, 'ms', search)
        }
      } finally {
        await browser.close()
        await server.stop()
      }
    }
    const values = (what: string) => found.rows.find((row) => row.what === what)?.values ?? []
    const [paint, growth] = [median(values(PAINT)), median(values(GROWTH))]
    const isMeasured = values(PAINT).length > 0
    return {
      claim: dashboardLog.about,
      rows: found.rows,
      verdicts: [
        {
          bar: `first lines drawn within ${LIMIT_MS} ms`,
          reached: isMeasured ? `${paint.toFixed(0)} ms` : 'not measured',
          held: isMeasured ? paint <= LIMIT_MS : null,
        },
        {
          bar: `memory grows by at most ${LIMIT_MB} MB`,
          reached: isMeasured ? `${growth.toFixed(1)} MB` : 'not measured',
          held: isMeasured ? growth <= LIMIT_MB : null,
        },
      ],
      notes: [],
    }
  },
}
