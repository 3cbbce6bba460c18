// A real server with the dashboard as it was built, and a real browser in front of it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { inject, onTestFinished } from 'vitest'
import type { Role } from '../../src/api/index.ts'
import type { Config } from '../../src/config/index.ts'
import { PATIENCE_MS } from '../processes.ts'
import { aServer, type TestServer } from '../server.ts'
import { aGraph, type TaskGraph } from '../task-server.ts'

export type Visit = {
  readonly page: Page
  readonly context: BrowserContext
  /** What the browser complained about: errors in the console, refused by the content policy, uncaught. */
  readonly complaints: readonly string[]
}

export type Dashboard = AsyncDisposable & {
  readonly server: TestServer
  readonly graph: TaskGraph
  readonly browser: Browser
  /** Where the dashboard is: with the path prefix, when there is one. */
  readonly address: string
  /** A link that signs in once. */
  link(role?: Role): Promise<string>
  /** A browser of its own, signed in, at the given path of the dashboard. It is closed with the test. */
  visit(path?: string, options?: VisitOptions): Promise<Visit>
  /** A browser of its own that is not signed in. */
  stranger(options?: VisitOptions): Promise<Visit>
}

export type VisitOptions = {
  readonly role?: Role
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
}

/** Starts a server on a database of its own, and connects to the browser of the run. Both end with `await using`. */
export async function aDashboard(settings: Partial<Config> = {}): Promise<Dashboard> {
  const data = await mkdtemp(join(tmpdir(), 'millrace-e2e-'))
  const server = await aServer({ data, ...settings })
  const graph = await aGraph(server.database.databaseUrl)
  const browser = await chromium.connect(inject('browser'))
  const address = `${server.url}${settings.base_path ?? ''}`
  const link = async (role: Role = 'admin') => {
    const { json } = await server.ask('POST', '/v1/sign-in-links', { body: { role, name: role } })
    return String(json.url)
  }
  const stranger = (options: VisitOptions = {}) => aVisit(browser, options)
  return {
    server,
    graph,
    browser,
    address,
    link,
    stranger,
    async visit(path = '/', options = {}) {
      const visit = await stranger(options)
      await signIn(server, visit.context, { link: await link(options.role), address })
      await visit.page.goto(address + path)
      await visit.page.getByRole('heading', { level: 1 }).waitFor()
      return visit
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await graph.close()
      await server[Symbol.asyncDispose]()
      await rm(data, { recursive: true, force: true })
    },
  }
}

/** Signs in without a page: the page of the link would be loaded before each one that a test is about. */
async function signIn(
  server: TestServer,
  context: BrowserContext,
  { link, address }: { readonly link: string; readonly address: string },
): Promise<void> {
  const { headers } = await server.ask('POST', '/v1/sign-in', { token: null, body: { secret: link.split('#')[1] } })
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(headers.get('set-cookie') ?? '') ?? []
  await context.addCookies([
    {
      name,
      value,
      domain: new URL(address).hostname,
      path: `${new URL(address).pathname}`,
      httpOnly: true,
      sameSite: 'Strict',
    },
  ])
}

async function aVisit(browser: Browser, { width = 1280, height = 800, theme = 'light' }: VisitOptions): Promise<Visit> {
  const view = { viewport: { width, height }, colorScheme: theme } as const
  const context = await browser.newContext(view)
  onTestFinished(async ({ task }) => {
    if (!browser.isConnected()) return
    if (task.result?.state === 'fail') console.error(`${page.url()} shows:\n${await textOf(page)}`)
    await context.close()
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, context, complaints }
}

const MOST_TEXT = 4000

const textOf = async (page: Page): Promise<string> =>
  (await page.locator('body').innerText({ timeout: 5_000 }).catch(String)).slice(0, MOST_TEXT)

/** Waits until the focus is in there: a key that is pressed before is heard elsewhere. */
export const untilFocusIn = (place: Locator): Promise<void> =>
  place.and(place.page().locator(':focus-within')).waitFor()

/** Takes an entry of the palette by Enter, once the field says that this is the one that is meant. */
export async function takeEntry(entry: Locator): Promise<void> {
  const id = await entry.getAttribute('id')
  await entry.page().locator(`input[aria-activedescendant="${id}"]`).waitFor()
  await entry.page().keyboard.press('Enter')
}

/** On how many lines a text stands. */
export const linesOf = (text: Locator): Promise<number> =>
  text.evaluate((element) => {
    const bottoms = new Set<number>()
    // Of the letters only: boxes around them begin and end elsewhere.
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    while (walker.nextNode() !== null) {
      const range = document.createRange()
      range.selectNodeContents(walker.currentNode)
      for (const { bottom } of range.getClientRects()) bottoms.add(Math.round(bottom))
    }
    return bottoms.size
  })

/** Watches a page for what moves without a person's doing; the function returned lists the moves until now. */
export async function watchMoves(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const moves: string[] = []
    const write = (list: PerformanceObserverEntryList) => {
      for (const entry of list.getEntries()) {
        const { sources = [] } = entry as PerformanceEntry & { sources?: LayoutShiftSource[] }
        for (const { node, previousRect, currentRect } of sources) {
          const element = node instanceof Element ? node : node?.parentElement
          const [from, to] = [previousRect, currentRect].map(({ x, y }) => `${Math.round(x)},${Math.round(y)}`)
          moves.push(`${element?.className || element?.tagName} "${node?.textContent?.slice(0, 30)}" ${from} -> ${to}`)
        }
      }
    }
    new PerformanceObserver(write).observe({ type: 'layout-shift' })
    Object.assign(globalThis, { moves })
  })
  return () =>
    page.evaluate(async () => {
      // A frame is judged after it was painted.
      for (let i = 0; i < 3; i += 1) await new Promise((done) => requestAnimationFrame(done))
      return (globalThis as unknown as { moves: string[] }).moves
    })
}

type LayoutShiftSource = { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }

/** The words of an element that do not stand on one line. A word ends at a space and after `:`, `.`, `_`, `/`, `@` and `-`. */
export const brokenWords = (place: Locator): Promise<readonly string[]> =>
  place.evaluate((element) => {
    const broken: string[] = []
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    while (walker.nextNode() !== null) {
      const text = walker.currentNode
      for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[^\s:._/@-]+/g)) {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word)
      }
    }
    return broken
  })

/** Puts the clock of a page ahead: each time that it shows gets longer. */
export const goAhead = (page: Page, seconds: number): Promise<void> =>
  page.evaluate((by) => {
    const now = Date.now
    // oxlint-disable-next-line typescript/unbound-method -- it is called with the headers
    const get = Headers.prototype.get
    Date.now = () => now() + by * 1000
    // The page would learn from the server's next answer what time it is.
    Headers.prototype.get = function (name) {
      return name === 'date' ? null : get.call(this, name)
    }
  }, seconds)

/** Where rows, heads and panels are. */
export const placesOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const parts =
      '[role=row], [role=columnheader]:not(.loom-column), .loom-column-name, [role=rowheader], .panel, .count'
    return [...document.querySelectorAll(`.main :is(${parts})`)].map((element) => {
      const { x, y } = element.getBoundingClientRect()
      return `${element.className} ${Math.round(x)} ${Math.round(y)}`
    })
  })
