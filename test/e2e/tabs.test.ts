import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aDashboard, type Dashboard } from './kit.ts'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await aDashboard()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** Tells which pages have a stream open now. */
async function watchStreams(page: Page, open: Map<string, Page>): Promise<void> {
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.mimeType === 'text/event-stream') open.set(requestId, page)
  })
  const forget = ({ requestId }: { requestId: string }) => void open.delete(requestId)
  client.on('Network.loadingFailed', forget)
  client.on('Network.loadingFinished', forget)
  // A stream that ends because its page is left is not told as ended.
  await client.send('Page.enable')
  client.on('Page.frameNavigated', () => forgetPage(page, open))
}

function forgetPage(page: Page, open: Map<string, Page>): void {
  for (const [id, holder] of open) if (holder === page) open.delete(id)
}

async function aTab(context: BrowserContext, open: Map<string, Page>): Promise<Page> {
  const page = await context.newPage()
  await watchStreams(page, open)
  await page.goto(`${dashboard.address}/tasks`)
  await page.getByRole('button', { name: /^live/ }).waitFor()
  return page
}

test('all tabs share one stream; when the one that has it is closed, the next takes it over', async () => {
  const { context, page: first } = await dashboard.visit('/tasks')
  const open = new Map<string, Page>()
  await watchStreams(first, open)
  await first.reload()
  await first.getByRole('button', { name: /^live/ }).waitFor()
  const second = await aTab(context, open)
  const third = await aTab(context, open)
  await dashboard.graph.add({ key: 'for all tabs' })
  for (const tab of [first, second, third]) await tab.getByRole('link', { name: 'for all tabs' }).waitFor()
  await expect.poll(() => [...open.values()]).toEqual([first])

  await first.close()
  forgetPage(first, open)
  await expect.poll(() => open.size).toBe(1)
  await dashboard.graph.add({ key: 'after the first has gone' })
  for (const tab of [second, third]) await tab.getByRole('button', { name: '1 new' }).waitFor()
  await expect.poll(() => open.size).toBe(1)
})

test('a tab that nobody looks at gives the stream up, and is fresh when somebody looks again', async () => {
  const { context, page: hidden } = await dashboard.visit('/tasks')
  const open = new Map<string, Page>()
  await watchStreams(hidden, open)
  await hidden.clock.install()
  await hidden.reload()
  await hidden.getByRole('button', { name: /^live/ }).waitFor()
  await expect.poll(() => [...open.values()]).toEqual([hidden])
  const shown = await aTab(context, open)
  const look = (isHidden: boolean) =>
    hidden.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => is })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)
  await look(true)
  await hidden.clock.fastForward(31_000)
  await expect.poll(() => [...open.values()]).toEqual([shown])
  await dashboard.graph.add({ key: 'while nobody looked' })
  const isTold = (tab: Page) =>
    tab
      .getByRole('link', { name: 'while nobody looked' })
      .or(tab.getByRole('button', { name: '1 new' }))
      .first()
  await isTold(shown).waitFor()
  expect(await isTold(hidden).count()).toBe(0)
  await look(false)
  await hidden.clock.runFor(5_000)
  await isTold(hidden).waitFor()
})

test('those who listen to the page are told in summaries what ended', async () => {
  const { page } = await dashboard.visit('/tasks')
  await page.getByRole('button', { name: /^live/ }).waitFor()
  for (let i = 0; i < 3; i += 1) await dashboard.graph.add({ scope: 'heard', payload: 'fine' })
  await dashboard.graph.add({ scope: 'heard', payload: 'broken' })
  const told = page.getByRole('status', { name: 'What happened' })
  const texts: string[] = []
  await page.exposeFunction('told', (text: string) => texts.push(text))
  await told.evaluate((place) => {
    const tell = (window as unknown as { told: (text: string) => void }).told
    new MutationObserver(() => tell(place.textContent ?? '')).observe(place, {
      childList: true,
      characterData: true,
      subtree: true,
    })
  })
  await dashboard.graph.perform()
  await expect.poll(() => texts.join(', ')).toContain('1 failed')
  await expect.poll(() => texts.join(', ')).toMatch(/\d finished/)
  expect(texts.length).toBeLessThanOrEqual(2)
})
