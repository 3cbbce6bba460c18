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

const at = (rev: number, more = '') => `/archives/${story.name}/r/${rev}${more}`

test('a revision shows its commit, with many paths folded, and when its hook announced it', async () => {
  const { page, complaints } = await dashboard.visit(at(1))
  await page.getByText('first chapters').waitFor()
  await page.getByText('ana', { exact: true }).waitFor()
  const announced = page.locator('dt', { hasText: 'Announced' }).locator('xpath=following-sibling::dd[1]')
  await announced.locator('time').waitFor()
  expect(await announced.textContent()).not.toContain('by no hook')
  const paths = page.getByRole('region', { name: 'Changed paths' })
  await paths.getByText('_workflows/book.yaml').waitFor()
  const rest = paths.getByText('chapters/9.txt')
  expect(await rest.isVisible()).toBe(false)
  await paths.locator('summary').click()
  await rest.waitFor()
  expect(complaints).toEqual([])
})

test('the graph has a node for each task that says its state, stubs for earlier ones, and arrows lead through it', async () => {
  const { page, complaints } = await dashboard.visit(at(2))
  const graph = page.getByRole('group', { name: /^What waits for what/ })
  await graph.getByRole('link', { name: /^check, failed, waits for index/ }).waitFor()
  await graph.getByRole('link', { name: /^publish, skipped, waits for check, cancels r1 publish/ }).waitFor()
  await graph.getByRole('link', { name: /^r1 index, of an earlier revision/ }).waitFor()
  await expect.poll(() => graph.locator('[tabindex="0"]').count()).toBe(1)
  await graph.locator('[tabindex="0"]').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await graph
    .getByRole('link', { name: /^check/ })
    .and(page.locator(':focus'))
    .waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/r/2/check')
  expect(complaints).toEqual([])
})

test('the list says the same as the graph, and is what a phone shows', async () => {
  const { page } = await dashboard.visit(at(2), { width: 360, height: 740 })
  const list = page.getByRole('list', { name: 'What waits for what' })
  await list.getByText('waits for check', { exact: true }).waitFor()
  await list.getByText('cancels r1 publish').waitFor()
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wide).toBeLessThanOrEqual(narrow ?? 0)
})

test('a changed definition is shown as lines added and removed, by signs and in words', async () => {
  const { page } = await dashboard.visit(at(3))
  await page.getByRole('tab', { name: 'Definition: changed' }).click()
  await page.waitForURL('**tab=diff')
  const diff = page.getByRole('group', { name: 'Changes of _workflows/book.yaml' })
  await diff.getByText('added: - name: mail').waitFor()
  await page.getByRole('group', { name: 'Changes of _workflows/nightly.yaml' }).waitFor()
  await page.getByRole('link', { name: /r2 the previous/ }).click()
  await page.getByRole('tab', { name: 'Definition: no change' }).waitFor()
})

test('a broken file is shown with its place, the lines around it, and a link to the line', async () => {
  const { page, complaints } = await dashboard.visit(at(4))
  await page.getByRole('heading', { name: /workflow files are broken/ }).waitFor()
  await page.getByRole('group', { name: '_workflows/book.yaml around line 2' }).getByText('comand').waitFor()
  await page.getByRole('link', { name: '_workflows/book.yaml:2:3' }).first().click()
  await page.waitForURL('**line=2')
  await page.getByRole('group', { name: '_workflows/book.yaml', exact: true }).locator('[data-meant]').waitFor()
  expect(complaints).toEqual([])
})

test('a viewer learns why nothing can be run again', async () => {
  const { page } = await dashboard.visit(at(2), { role: 'viewer' })
  const button = page.getByRole('button', { name: 'Rerun failed' })
  await page.getByRole('link', { name: /^check, failed/ }).waitFor()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  expect(await button.getAttribute('title')).toContain('needs the role operator')
})

test('what failed is run again from the page, which shows the success without being fetched whole for each event', async () => {
  const { page, complaints } = await dashboard.visit(at(2))
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByRole('link', { name: /^check, failed/ }).waitFor()
  await story.mend()
  let fetched = 0
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().endsWith('/revisions/2')) fetched += 1
  })
  const begunAt = performance.now()
  await page.getByRole('button', { name: 'Rerun failed (1)' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText(`${story.name}@2:check`).waitFor()
  await dialog.getByRole('button', { name: 'Rerun 1 task' }).click()
  await page.getByRole('link', { name: /^check, succeeded/ }).waitFor()
  await page.getByRole('link', { name: /^publish, (succeeded|canceled)/ }).waitFor()
  // Twice a second at most, and by far not for each event.
  expect(fetched).toBeLessThanOrEqual(Math.max(5, (2 * (performance.now() - begunAt)) / 1000))
  expect(complaints).toEqual([])
})
