import { afterAll, beforeAll, expect, test } from 'vitest'
import { aDashboard, type Dashboard } from './kit.ts'
import { aStory, type Story } from './story.ts'

let dashboard: Dashboard
let story: Story

beforeAll(async () => {
  dashboard = await aDashboard({ poll_seconds: 3600 })
  story = await aStory(dashboard)
})

afterAll(async () => {
  await story[Symbol.asyncDispose]()
  await dashboard[Symbol.asyncDispose]()
})

const ofRevision = () => `/timeline?archive=${story.name}&rev=2`

test('the tasks of a revision have bars, the critical ones are marked, and focus tells where the time went', async () => {
  const { page, complaints } = await dashboard.visit(ofRevision())
  const check = page.getByRole('link', { name: '2:check' })
  await check.waitFor()
  await expect.poll(() => page.locator('.timeline-running.timeline-of-failed').count()).toBe(1)
  await expect.poll(() => page.locator('.timeline-bar[data-critical]').count()).toBeGreaterThan(0)
  await check.focus()
  await page.getByText('usually runs').waitFor()
  await page.getByText('waited for others').last().waitFor()
  expect(complaints).toEqual([])
})

test('drawing over the chart zooms, keys zoom and move, a double click shows everything: all in the address', async () => {
  const { page } = await dashboard.visit(ofRevision())
  await page.getByRole('link', { name: '2:check' }).waitFor()
  const bars = page.locator('.timeline-bars').first()
  // As wide as the page lets them be, which they are a moment later.
  await expect.poll(async () => (await bars.boundingBox())?.width).toBeGreaterThan(300)
  const box = await bars.boundingBox()
  if (box === null) throw new Error('there are no bars')
  const axis = () => page.locator('.timeline-axis').innerHTML()
  const whole = await axis()
  await page.mouse.move(box.x + 100, box.y + 5)
  await page.mouse.down()
  await page.mouse.move(box.x + 300, box.y + 5, { steps: 3 })
  await page.mouse.up()
  await page.waitForURL('**zoom=**')
  const zoom = () => page.evaluate(() => new URL(location.href).searchParams.get('zoom'))
  await expect.poll(axis).not.toBe(whole)
  const brushed = await zoom()
  for (const key of ['+', 'ArrowRight', '-']) {
    const [before, drawn] = [await zoom(), await axis()]
    await page.keyboard.press(key)
    await expect.poll(zoom).not.toBe(before)
    // The next key goes on from what is shown.
    await expect.poll(axis).not.toBe(drawn)
  }
  expect(await zoom()).not.toBe(brushed)
  await page.mouse.dblclick(box.x + 200, box.y + 5)
  await page.waitForFunction(() => !location.search.includes('zoom'))
})

test('rows are folded by name or worker, what is over is hidden, and the table says the same in numbers', async () => {
  const { page } = await dashboard.visit('/timeline')
  await page.getByRole('link', { name: '2:check' }).waitFor()
  await page.getByLabel('Fold by').selectOption('name')
  await page.getByRole('link', { name: /^(critical: )?check \(3\)/ }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: '2:check' }).count()).toBe(0)
  await page.getByLabel('Fold by').selectOption('')
  await page.getByRole('button', { name: 'Table' }).click()
  const row = page.getByRole('table', { name: 'Where the time went' }).getByRole('row', { name: /2:check/ })
  await row.getByText('failed').waitFor()
  await page.getByRole('button', { name: 'Hide completed' }).click()
  await row.waitFor({ state: 'detached' })
  await page.waitForURL(({ searchParams }) => searchParams.get('hide') === '1')
})

test('where tasks of many are shown, each says whose it is; those of one revision are called by their keys', async () => {
  const { server } = dashboard
  const added = await server.ask('POST', '/v1/nodes', {
    body: [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'echo', args: ['hello'] } }],
  })
  expect(added.status).toBe(201)
  for (const size of [{}, { width: 360, height: 740 }]) {
    const { page } = await dashboard.visit('/timeline', size)
    const shows = async (name: string | RegExp) => {
      await page.getByRole('link', { name, exact: true }).first().waitFor()
    }
    await shows(`${story.name}@2:check`)
    await shows(/^node\/\d+$/)
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('table', { name: 'Where the time went' }).waitFor()
    await shows(`${story.name}@2:check`)
    await shows(/^node\/\d+$/)
    await page.goto(dashboard.address + ofRevision())
    await shows('2:check')
  }
})

test('a row that is folded by scope leads to the tasks of the scope', async () => {
  const { page } = await dashboard.visit('/timeline?fold=scope')
  await page.getByRole('link', { name: `archive:${story.name}` }).click()
  await page.waitForURL('**/tasks?**')
  await page.getByRole('link', { name: '2:check' }).first().waitFor()
})

test('what is added to a revision shows up by itself', async () => {
  const { page } = await dashboard.visit(`/timeline?archive=${story.name}&rev=3`)
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByRole('link', { name: '3:mail' }).waitFor()
  const { status } = await dashboard.server.ask('POST', `/v1/archives/${story.name}/runs`, {
    body: { task: 'clean', rev: 3 },
  })
  expect(status).toBe(201)
  await page.getByRole('link', { name: /^3:clean#/ }).waitFor()
})

test('a phone shows labels above the bars and needs no scrolling aside', async () => {
  const { page, complaints } = await dashboard.visit(ofRevision(), { width: 360, height: 740 })
  await page.getByRole('link', { name: '2:check' }).waitFor()
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wide).toBeLessThanOrEqual(narrow ?? 0)
  expect(complaints).toEqual([])
})
