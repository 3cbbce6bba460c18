import { afterAll, beforeAll, expect, test } from 'vitest'
import { aDashboard, type Dashboard, takeEntry, untilFocusIn } from './kit.ts'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await aDashboard()
  // Where nothing ever happened the overview shows how to begin.
  await dashboard.graph.add({ key: 'the first of all' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('the palette goes to screens, tasks by number, by key and by words, archives, and pasted addresses', async () => {
  const id = await dashboard.graph.add({ scope: 'palette', key: 'grind the corn' })
  await dashboard.server.ask('PUT', '/v1/archives/Water%20Mill', { body: { source: { type: 'push' } } })
  const { page, complaints } = await dashboard.visit()
  const field = page.getByRole('dialog', { name: 'Search or go to' }).getByRole('searchbox')
  const choose = async (text: string, entry: string | RegExp) => {
    await page.keyboard.press('Control+k')
    await field.fill(text)
    return page.getByRole('menuitem', { name: entry }).first()
  }
  /** The screen that was gone to, with the focus at its beginning. */
  const arrived = async (heading: string) => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await field.waitFor({ state: 'detached' })
  }
  await takeEntry(await choose('work', 'Workers'))
  await page.waitForURL('**/workers')
  await arrived('Workers')
  await takeEntry(await choose(id, `Go to task ${id}`))
  await page.waitForURL(`**/tasks/${id}`)
  await arrived('grind the corn')
  await page.goto(dashboard.address)
  await arrived('Overview')
  await (await choose('corn', /^palette\/grind the corn/)).click()
  await page.waitForURL(`**/tasks/${id}`)
  await arrived('grind the corn')
  await (await choose('water', /^Water Mill/)).click()
  await page.waitForURL('**/archives/Water%20Mill')
  await arrived('Water Mill')
  await takeEntry(await choose(`${dashboard.address}/tasks/${id}?tab=raw`, /^Go to \/tasks/))
  await page.waitForURL(`**/tasks/${id}?tab=raw`)
  await arrived('grind the corn')
  await takeEntry(await choose('state:failed', 'Search tasks for state:failed'))
  await page.waitForURL('**/tasks?q=state%3Afailed')
  // What is not the name of a task is not found, and the browser notes that.
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
})

test('the palette has what was seen last, what the screen can do, and says when nothing is called so', async () => {
  const { page } = await dashboard.visit('/workers')
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()
  await page.keyboard.press('Control+k')
  const recent = page.getByRole('group', { name: 'Recent' })
  await recent.getByRole('menuitem', { name: /Workers/ }).waitFor()
  await page.getByRole('searchbox').fill('theme: dark')
  await takeEntry(page.getByRole('menuitem', { name: /^Theme: Dark/ }))
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('what the palette asks of the server is bounded', async () => {
  for (let i = 0; i < 30; i += 1) await dashboard.graph.add({ scope: 'bounded', key: `sack ${i}` })
  const { page } = await dashboard.visit('/settings')
  const asked: URL[] = []
  page.on('request', (request) => {
    if (request.url().includes('/v1/tasks')) asked.push(new URL(request.url()))
  })
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').pressSequentially('sack')
  await page
    .getByRole('menuitem', { name: /bounded\/sack/ })
    .first()
    .waitFor()
  expect(asked.every(({ searchParams }) => searchParams.get('limit') === '8')).toBe(true)
  await expect.poll(() => page.getByRole('menuitem', { name: /bounded\/sack/ }).count()).toBe(8)
})

test('g and a letter goes, / filters, ? lists the keys, and nothing happens while somebody types', async () => {
  const { page, complaints } = await dashboard.visit()
  for (const [key, heading] of [
    ['a', 'Archives'],
    ['t', 'Tasks'],
    ['w', 'Workers'],
    ['s', 'Schedules'],
    ['e', 'Events'],
    ['o', 'Overview'],
    ['t', 'Tasks'],
  ] as const) {
    // In one go: the second counts only soon after the first.
    await page.keyboard.type(`g${key}`)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  }
  await page.keyboard.press('/')
  const filter = page.getByRole('main').getByRole('searchbox').or(page.locator('main [data-filter]'))
  await expect.poll(() => filter.first().evaluate((field) => field === document.activeElement)).toBe(true)
  await page.keyboard.type('ga?')
  await expect.poll(() => filter.first().inputValue()).toBe('ga?')
  expect(new URL(page.url()).pathname).toBe('/tasks')
  await page.getByRole('main').focus()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await help.getByText('Go to Archives').waitFor()
  await help.getByText('Search or go to').waitFor()
  await untilFocusIn(help)
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('keys of one character can be turned off, and stay off; Ctrl-K still works', async () => {
  const { page } = await dashboard.visit('/settings/appearance')
  const off = page.getByRole('group', { name: 'Keys of one letter' }).getByRole('button', { name: 'Off' })
  await off.click()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await expect.poll(() => off.getAttribute('aria-pressed')).toBe('true')
  await page.getByRole('main').focus()
  await page.keyboard.press('?')
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Search or go to' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings/appearance')
  expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(0)
})

test('the theme is kept, and times are written in the zone that was chosen', async () => {
  const { page } = await dashboard.visit('/settings/appearance')
  await page.getByRole('main').getByRole('button', { name: 'High contrast' }).click()
  await page.getByRole('main').getByRole('button', { name: 'UTC', exact: true }).click()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('contrast')
  await page.getByRole('button', { name: 'Times: UTC' }).waitFor()
  await dashboard.graph.add({ key: 'of a time' })
  await page.goto(`${dashboard.address}/tasks`)
  const time = page.getByRole('main').locator('time').first()
  const [written, iso] = await time.evaluate((one) => [one.getAttribute('title'), one.getAttribute('datetime')])
  const expected = await page.evaluate(
    (at) =>
      new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }).format(
        Date.parse(at),
      ),
    iso ?? '',
  )
  expect(written).toBe(expected)
})

test('somebody who signs out is a stranger again', async () => {
  const { page, context } = await dashboard.visit('/', { role: 'operator' })
  await page.getByRole('button', { name: 'Account: operator, operator' }).click()
  await page.getByRole('menuitem', { name: 'Sign out operator' }).click()
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await page.getByText(`millrace open --sign-in --server ${dashboard.address}`).waitFor()
  expect((await context.cookies()).filter(({ value }) => value !== '')).toEqual([])
  await page.goto(`${dashboard.address}/tasks`)
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
})

test('a link may lead to a page, and never out of the dashboard', async () => {
  const id = await dashboard.graph.add({ key: 'led to' })
  for (const [to, heading] of [
    [`/tasks/${id}`, 'led to'],
    ['//example.org/', 'Overview'],
  ] as const) {
    const { page } = await dashboard.stranger()
    await page.goto((await dashboard.link()).replace('#', `?to=${encodeURIComponent(to)}#`))
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    expect(new URL(page.url()).origin).toBe(new URL(dashboard.address).origin)
  }
})

test('a page that there is not says so, and one that is refused says who may', async () => {
  const { page } = await dashboard.visit('/', { role: 'viewer' })
  await page.goto(`${dashboard.address}/no/such/page`)
  await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor()
  await page.getByRole('link', { name: 'Go to the overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.goto(`${dashboard.address}/settings/tokens`)
  await page.getByText('You are signed in as viewer (viewer).').waitFor()
})
