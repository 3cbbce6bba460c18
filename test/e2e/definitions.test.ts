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

const at = (more = '') => `/archives/${story.name}/definitions${more}`

test('the newest files are shown with what is wrong with them, and each finding leads to its line', async () => {
  const { page, complaints } = await dashboard.visit(at())
  await page.getByRole('heading', { name: 'The files have errors' }).waitFor()
  await page.getByRole('link', { name: '_workflows/book.yaml:2:3' }).first().click()
  await page.waitForURL('**line=2**')
  const file = page.getByRole('group', { name: '_workflows/book.yaml', exact: true })
  await file.locator('[data-meant]').getByText('comand').first().waitFor()
  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByText('There is no graph').waitFor()
  expect(complaints).toEqual([])
})

test('another revision is chosen by its number, which stands in the address', async () => {
  const { page } = await dashboard.visit(at())
  await page.getByLabel('At revision').fill('3')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL('**rev=3')
  await page.getByRole('group', { name: '_workflows/nightly.yaml' }).waitFor()
  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByRole('link', { name: 'Revision r3' }).waitFor()
  await page.getByRole('img', { name: /^publish, waits for check, cancels PREV:publish/ }).waitFor()
})

test('a number that is filled in while the files are still loading stays', async () => {
  const { page } = await dashboard.visit(at('?rev=3'))
  let answer = () => {}
  const isToAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/v1/archives/*/definition', async (route) => {
    await isToAnswer
    await route.continue()
  })
  await page.getByRole('link', { name: 'Newest' }).click()
  await page.waitForURL('**/definitions')
  const field = page.getByLabel('At revision')
  await field.fill('3')
  answer()
  await page.getByRole('heading', { name: 'The files have errors' }).waitFor()
  expect(await field.inputValue()).toBe('3')
})

test('the plan for the next commit names what each task would wait for and cancel', async () => {
  const { page, complaints } = await dashboard.visit(at('?rev=3&tab=plan'))
  const table = page.getByRole('table', { name: 'What would be added' })
  await table
    .getByRole('row', { name: /publish/ })
    .getByText('r5 check')
    .waitFor()
  const left = page.getByRole('table', { name: 'What would be left out' })
  await left.getByRole('row', { name: /clean.*no commit starts its workflow/ }).waitFor()
  await page.getByRole('group', { name: 'the plan' }).getByText('<--').first().waitFor()
  expect(complaints).toEqual([])
})

test('schedules are told in words with their next times', async () => {
  const { page } = await dashboard.visit(at('?rev=3&tab=schedules'))
  await page.getByText(/At 03:00/).waitFor()
  const times = page.getByRole('list', { name: 'Next times' }).getByRole('listitem')
  await expect.poll(() => times.count()).toBe(5)
})

test('a workflow is run by hand with its inputs, and its tasks are shown with the revision', async () => {
  const { page, complaints } = await dashboard.visit(at('?rev=3&tab=run'))
  await page.getByLabel('edition').fill('final')
  await page.getByRole('button', { name: 'Run nightly at r3' }).click()
  await page.waitForURL('**/r/3')
  await page
    .getByRole('table', { name: 'Tasks' })
    .getByRole('link', { name: /^clean#/ })
    .waitFor()
  expect(complaints).toEqual([])
})

test('what was filled in for a run stays when it is refused, and whoever clicks twice asks once', async () => {
  const { page } = await dashboard.visit(at('?rev=3&tab=run'))
  let asked = 0
  let refuse = () => {}
  const isToRefuse = new Promise<void>((resolve) => {
    refuse = resolve
  })
  await page.route('**/runs', async (route) => {
    asked += 1
    await isToRefuse
    const problem = { type: 'about:blank', title: 'no', status: 409, code: 'archive_held', detail: 'it is held' }
    await route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify(problem) })
  })
  await page.getByLabel('edition').fill('final')
  const button = page.getByRole('button', { name: 'Run nightly at r3' })
  await button.click()
  await button.click({ force: true })
  refuse()
  await page.getByRole('alert').waitFor()
  await button.and(page.locator(':not([aria-busy])')).waitFor()
  expect(await page.getByLabel('edition').inputValue()).toBe('final')
  expect(asked).toBe(1)
})

test('a viewer may look and not run, and a phone needs no scrolling aside', async () => {
  const { page } = await dashboard.visit(at('?rev=3&tab=run'), { role: 'viewer', width: 360, height: 740 })
  const button = page.getByRole('button', { name: 'Run nightly at r3' })
  await button.waitFor()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  for (const tab of ['files', 'graph', 'plan', 'schedules', 'run']) {
    await page.goto(`${dashboard.address}${at(`?rev=3&tab=${tab}`)}`)
    await page.getByRole('tab', { selected: true }).waitFor()
    await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'detached' })
    const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(wide, tab).toBeLessThanOrEqual(narrow ?? 0)
  }
})
