import { afterAll, beforeAll, expect, test } from 'vitest'
import { aDashboard, type Dashboard, takeEntry } from './kit.ts'

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await aDashboard()
  // Where nothing ever happened the overview shows how to begin.
  await dashboard.graph.add({ key: 'the first of all' })
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

test('a one-time link signs in and shows the overview, and the browser complains of nothing', async () => {
  const { page, complaints } = await dashboard.stranger()
  await page.goto(await dashboard.link())
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.waitForURL(({ pathname }) => pathname === '/')
  await expect.poll(() => page.title()).toBe('Overview · Millrace')
  expect(complaints).toEqual([])
})

test('every place of the navigation has a heading, fits a phone, and the browser complains of nothing', async () => {
  const { page, complaints } = await dashboard.visit('/', { width: 360, height: 740 })
  const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { includeHidden: true })
  const paths = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).pathname))
  expect(paths.length).toBeGreaterThan(8)
  for (const path of [...new Set(paths), '/settings/tokens', '/settings/webhooks', '/settings/secrets']) {
    await page.goto(dashboard.address + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'detached' })
    const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(wide, path).toBeLessThanOrEqual(narrow ?? 0)
  }
  expect(complaints).toEqual([])
})

test('menus and dialogs open without breaking the content policy', async () => {
  const { page, complaints } = await dashboard.visit()
  await page.getByRole('button', { name: /^Theme/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await page.getByRole('button', { name: 'Search or go to' }).click()
  await page.getByRole('dialog').getByRole('searchbox').fill('state:failed')
  await takeEntry(page.getByRole('menuitem', { name: 'Search tasks for state:failed' }))
  await page.waitForURL('**/tasks?q=state%3Afailed')
  expect(complaints).toEqual([])
})

test('a stranger is asked to sign in, and the link leads to the page that was asked for', async () => {
  const { page } = await dashboard.stranger()
  await page.goto(`${dashboard.address}/workers?all=1`)
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await page.goto(await dashboard.link('viewer'))
  await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
  await page.waitForURL(({ search }) => search === '?all=1')
})

test('a link that was used says so', async () => {
  const link = await dashboard.link()
  const first = await dashboard.stranger()
  await first.page.goto(link)
  await first.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const second = await dashboard.stranger()
  await second.page.goto(link)
  const said = second.page.getByRole('alert')
  await said.getByText('sign_in_refused').waitFor()
  expect(await said.textContent()).not.toContain('`')
  const between = async () => {
    const [box, next] = await Promise.all([
      said.boundingBox(),
      second.page.getByText('A browser signs in by a link').boundingBox(),
    ])
    return (next?.y ?? 0) - ((box?.y ?? 0) + (box?.height ?? 0))
  }
  await expect.poll(between).toBeGreaterThan(8)
})

test('a link that was used is no dead end for somebody who is signed in', async () => {
  const id = await dashboard.graph.add({ key: 'led to once' })
  const link = await dashboard.link('operator')
  const { page } = await dashboard.visit('/', { role: 'viewer' })
  const other = await dashboard.stranger()
  await other.page.goto(link)
  await other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.goto(link)
  await page.getByRole('alert').getByText('The link is wrong, used or too old').waitFor()
  await page.getByText('signed in already, as viewer (viewer)').waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Show the overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.goto(link.replace('#', `?to=${encodeURIComponent(`/tasks/${id}`)}#`))
  await page.getByRole('link', { name: 'Show the page that the link leads to' }).click()
  await page.getByRole('heading', { level: 1, name: 'led to once' }).waitFor()
})

test('a viewer sees the tasks and learns why settings are not for viewers', async () => {
  const { page } = await dashboard.visit('/settings/tokens', { role: 'viewer' })
  await page.getByRole('alert').getByText('this needs the role admin').waitFor()
})

test('a task that is added shows up by itself where nothing can lose its place', async () => {
  const { page } = await dashboard.visit('/tasks?q=scope:empty')
  await page.getByText('No task is like this').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await dashboard.graph.add({ scope: 'empty', key: 'comes by itself' })
  await page.getByRole('link', { name: 'comes by itself' }).waitFor()
})

test('odd names survive in addresses', async () => {
  const key = 'a/b %41 100% ?#&+ עברית'
  const id = await dashboard.graph.add({ scope: 'odd', key })
  const { page, complaints } = await dashboard.visit('/tasks?q=odd')
  await page.getByRole('link', { name: key }).click()
  await page.waitForURL(`**/tasks/${id}`)
  await page.goto(`${dashboard.address}/tasks/${encodeURIComponent(`odd/${key}`)}`)
  await page.getByRole('heading', { level: 1, name: key }).waitFor()
  await page.getByText('odd', { exact: true }).first().waitFor()
  expect(complaints).toEqual([])
})

test('under a path prefix everything stays under it', async () => {
  await using prefixed = await aDashboard({ base_path: '/deep/millrace' })
  const { page, context, complaints } = await prefixed.visit('/tasks')
  await page.waitForURL(({ pathname }) => pathname === '/deep/millrace/tasks')
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByRole('link', { name: 'Workers' }).click()
  await page.waitForURL('**/deep/millrace/workers')
  await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
  expect((await context.cookies()).map(({ path }) => path)).toEqual(['/deep/millrace'])
  expect(complaints).toEqual([])
})
