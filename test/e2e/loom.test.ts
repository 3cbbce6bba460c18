import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { announce, commitFiles, DOCUMENT, performing, planned, stateOf, untilState } from '../archives.ts'
import { waitFor } from '../processes.ts'
import type { Ground } from '../repositories/ground.ts'
import { svnFiles } from '../repositories/svn.ts'
import { aDashboard, type Dashboard, takeEntry, untilFocusIn } from './kit.ts'
import { aWatched, cell, countPages, pathOf, rail, untilColour } from './loom-kit.ts'

let dashboard: Dashboard
let ground: Ground

beforeAll(async () => {
  dashboard = await aDashboard({ poll_seconds: 3600, queues: 'nothing-of-this-server' })
  ground = await svnFiles()
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await ground[Symbol.asyncDispose]()
})

let names = 0
const freshName = (word = 'Loom') => {
  names += 1
  return `${word}-${names}`
}
test('the loom fills as hooks come in any order: superseded, running, frontier, all without a reload', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  work.block('2:build-PDF', '3:build-PDF', '4:build-PDF')
  const name = freshName()
  const plain = await ground.create()
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: plain.options, from: 1 } })
  const { page, complaints } = await dashboard.visit(pathOf(name))
  await page.getByText('No revision was planned yet').waitFor()
  await page.getByText('millrace hook install').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  for (let rev = 1; rev <= 4; rev += 1)
    await commitFiles(
      plain,
      rev === 1 ? { '_workflows/a.yaml': DOCUMENT } : { 'a.txt': String(rev) },
      `change ${rev}`,
      'ada',
    )
  for (const rev of [4, 2, 3, 1]) await announce(server, name, rev)
  await cell(page, 'revision 4, build-PDF, running').waitFor()
  await cell(page, 'revision 3, build-PDF, superseded by revision 4').waitFor()
  await cell(page, 'revision 1, build-PDF, succeeded').waitFor()
  await page.getByText('build-PDF −3').waitFor()
  await untilColour(page, 'revision 1, build-PDF, succeeded', '--state-succeeded')
  await untilColour(page, 'revision 4, build-PDF, running', '--state-running', -3)
  const { asked, quiet } = countPages(page)
  await quiet()
  asked.length = 0
  work.free('4:build-PDF')
  await cell(page, 'revision 4, build-PDF, succeeded').waitFor()
  await untilColour(page, 'revision 4, build-PDF, succeeded', '--state-succeeded')
  await page.getByText('nothing lags').waitFor()
  expect(asked).toEqual([])
  expect(complaints).toEqual([])
})

test('a gap is a row as soon as it is known, and announcing what is missing closes it', async () => {
  const { server } = dashboard
  await performing(server.database)
  const name = freshName('Pushed')
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: { type: 'push' }, from: 1 } })
  const tasks = [{ name: 'check', command: 'true', depends: ['PREV'] }]
  const push = (rev: number) =>
    server.ask('POST', `/v1${pathOf(name)}/commits`, { body: { rev, tasks, author: 'zoe', message: `push ${rev}` } })
  await push(1)
  await push(2)
  const { page } = await dashboard.visit(pathOf(name))
  await cell(page, 'revision 2, check, succeeded').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await push(4)
  await push(5)
  const gap = page.getByRole('row').filter({ hasText: 'r3' }).filter({ hasText: 'not announced' })
  await gap.waitFor()
  await page.getByRole('row').filter({ hasText: 'r4–r5' }).getByText('announced, waits for r3').waitFor()
  await gap.getByRole('button', { name: 'Announce' }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByText(`${name} r3`, { exact: true }).waitFor()
  await untilFocusIn(asked)
  // The dialog was opened from a row of the loom: its keys and clicks are not the loom's.
  await asked.getByRole('heading').click()
  await page.keyboard.press('ArrowDown')
  expect(await rail(page).count()).toBe(0)
  await asked.getByRole('button', { name: 'Announce r3' }).click()
  await cell(page, 'revision 5, check, succeeded').waitFor()
  await cell(page, 'revision 3 has no check').waitFor()
  await gap.waitFor({ state: 'detached' })
})

test('a running task is canceled from the loom, after a question that names it', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.block('2:build-PDF')
  await aWatched({ dashboard, ground }, name, 2)
  await untilState(server, `${name}@2:build-PDF`, 'running')
  const { page } = await dashboard.visit(`${pathOf(name)}?at=r2&task=build-PDF`)
  await rail(page).getByText('is running on').waitFor()
  await rail(page).getByRole('button', { name: 'Cancel' }).click()
  const asked = page.getByRole('alertdialog', { name: 'Cancel 1 task?' })
  await asked.getByText(`${name}@2:build-PDF`).waitFor()
  await asked.getByRole('button', { name: 'Cancel 1 task' }).click()
  await cell(page, /^revision 2, build-PDF, canceled/).waitFor()
  expect(await stateOf(server, `${name}@2:build-PDF`)).toBe('canceled')
  await rail(page).getByRole('button', { name: 'Retry' }).click()
  await cell(page, /^revision 2, build-PDF, (running|ready|waiting)/).waitFor()
  await untilState(server, `${name}@2:build-PDF`, 'running')
})

test('the keyboard walks, jumps, chooses and opens', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.failing.add('1:indexing')
  work.block('3:indexing', '2:build-PDF')
  await aWatched({ dashboard, ground }, name, 3)
  await untilState(server, `${name}@2:build-PDF`, 'running')
  const { page, complaints } = await dashboard.visit(pathOf(name))
  await cell(page, /^revision 3, indexing, running/).waitFor()
  await page.locator('[role=gridcell][tabindex="0"]').focus()
  const speaks = (text: string | RegExp) =>
    page.locator('[role=gridcell]:focus').and(cell(page, text)).waitFor({ state: 'attached' })
  const press = (key: string) => page.keyboard.press(key)
  await press('ArrowDown')
  await speaks(/^revision 3, COMMIT, succeeded/)
  await press('ArrowRight')
  await press('ArrowRight')
  await speaks(/^revision 3, build-PDF, waiting for indexing/)
  await press('b')
  await speaks(/^revision 3, indexing, running/)
  await press('d')
  await speaks(/^revision 3, build-PDF/)
  await press('n')
  await speaks(/^revision 1, indexing, failed/)
  await page.waitForURL('**?at=r1&task=indexing')
  await press('ArrowRight')
  await speaks(/^revision 1, build-PDF, skipped because of indexing/)
  await press('p')
  await speaks(/^revision 1, indexing, failed/)
  await press('ArrowUp')
  await press('ArrowUp')
  await press('.')
  await speaks(/^revision 2, indexing, succeeded/)
  await press('ArrowUp')
  await press('Shift+ArrowRight')
  await press('Shift+ArrowDown')
  await page.getByRole('toolbar', { name: 'Selected cells' }).getByText('4 selected').waitFor()
  await page.getByRole('button', { name: 'Cancel 3' }).waitFor()
  await press('x')
  await page.getByText('3 selected').waitFor()
  await press('c')
  await untilFocusIn(page.getByRole('alertdialog', { name: 'Cancel 2 tasks?' }))
  await press('Escape')
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await speaks(/^revision 2, build-PDF, running/)
  await press('Escape')
  await page.getByText('3 selected').waitFor({ state: 'detached' })
  await speaks(/^revision 2, build-PDF, running/)
  await press('l')
  await page.waitForURL('**/tasks/*/log')
  await page.goBack()
  await speaksAgain(page, /^revision 2, build-PDF/)
  await press('t')
  await page.waitForURL(`**/timeline?archive=${name}&rev=2`)
  await page.getByRole('link', { name: '2:build-PDF' }).waitFor()
  await page.goBack()
  await speaksAgain(page, /^revision 2, build-PDF/)
  await press('Enter')
  await page.waitForURL(/\/tasks\/\d+$/)
  expect(complaints).toEqual([])
})

test('who walks, goes on at once and comes back finds the cell again, however slow the next page is', async () => {
  const { server } = dashboard
  await performing(server.database)
  const name = freshName()
  await aWatched({ dashboard, ground }, name, 2)
  await untilState(server, `${name}@2:build-PDF`, 'succeeded')
  const { page } = await dashboard.visit(`${pathOf(name)}?at=r1&task=indexing`)
  // Longer than a walk takes to be written down.
  await page.route('**/assets/*.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await route.continue()
  })
  for (const key of ['t', 'l']) {
    await speaksAgain(page, /^revision 1, indexing/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press(key)
    await page.getByRole('gridcell').first().waitFor({ state: 'detached' })
    await page.waitForURL(({ pathname }) => (key === 't' ? /^\/timeline$/ : /^\/tasks\/\d+\/log$/).test(pathname))
    await page.goBack()
    await speaksAgain(page, /^revision 2, indexing/)
    await page.waitForURL(({ search }) => search === '?at=r2&task=indexing')
    await page.keyboard.press('ArrowDown')
    await page.waitForURL('**?at=r1&task=indexing')
  }
})

test('the help lists the keys of the loom, they work from anywhere on the page, and none acts on a task unchosen', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.failing.add('1:indexing')
  await aWatched({ dashboard, ground }, name, 1)
  await untilState(server, `${name}@1:build-PDF`, 'skipped')
  const { page, complaints } = await dashboard.visit(pathOf(name))
  await cell(page, /^revision 1, indexing, failed/).waitFor()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog')
  await help.getByText('Next failure').waitFor()
  await help.getByText('Timeline of the revision').waitFor()
  await untilFocusIn(help)
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.locator('body').click({ position: { x: 1, y: 1 } })
  await page.keyboard.press('r')
  await page.getByText('Choose a task first').waitFor()
  await page.keyboard.press('n')
  await rail(page).locator('.state', { hasText: 'failed' }).waitFor()
  work.failing.clear()
  await page.keyboard.press('r')
  await cell(page, /^revision 1, build-PDF, succeeded/).waitFor()
  expect(complaints).toEqual([])
})

/** Back in the loom the address says which cell it was. */
async function speaksAgain(page: Page, text: RegExp): Promise<void> {
  await cell(page, text).waitFor()
  await page.locator('[role=gridcell][tabindex="0"]').and(cell(page, text)).focus()
}

test('on a phone the same is a list with strips of signs, and nothing scrolls sideways', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.block('2:build-PDF')
  await aWatched({ dashboard, ground }, name, 2)
  await untilState(server, `${name}@2:build-PDF`, 'running')
  const { page, complaints } = await dashboard.visit(pathOf(name), { width: 360, height: 740 })
  await page.getByRole('button', { name: 'revision 1, build-PDF, succeeded' }).waitFor()
  expect(await page.getByRole('grid').count()).toBe(0)
  // Each sign stands below the name of its task.
  const places = async () => {
    const [head, sign] = await Promise.all([
      page.locator('.loom-list-heads').getByText('build-PDF', { exact: true }).boundingBox(),
      page.getByRole('button', { name: 'revision 1, build-PDF, succeeded' }).boundingBox(),
    ])
    if (head === null || sign === null) return undefined
    const aside = Math.abs(head.x + head.width / 2 - sign.x - sign.width / 2)
    return { isInColumn: aside < 3, isBelow: head.y + head.height < sign.y }
  }
  await expect.poll(places).toEqual({ isInColumn: true, isBelow: true })
  await page.getByRole('button', { name: /^revision 2, build-PDF, running/ }).click()
  await rail(page).getByText('is running on').waitFor()
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wide).toBeLessThanOrEqual(narrow ?? 0)
  await rail(page).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel 1 task' }).click()
  await page.getByRole('button', { name: /^revision 2, build-PDF, canceled/ }).waitFor()
  expect(complaints).toEqual([])
})

test('odd names of archives and tasks survive in addresses and labels', async () => {
  const { server } = dashboard
  await performing(server.database)
  const name = `Büch ${freshName('2.')} ספר`
  const long = `a.${'very-'.repeat(19)}_9`
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: { type: 'push' }, from: 1 } })
  const tasks = [
    { name: long, command: 'true' },
    { name: '0', command: 'true', depends: [long] },
  ]
  await server.ask('POST', `/v1${pathOf(name)}/commits`, {
    body: { rev: 1, tasks, author: '<b>אבג</b>', message: '100% <i>?#&' },
  })
  await planned(server, name, 1)
  await untilState(server, `${name}@1:0`, 'succeeded')
  const { page, complaints } = await dashboard.visit(`${pathOf(name)}?at=r1&task=${long}`)
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await rail(page).getByRole('heading', { name: long }).waitFor()
  await page.getByText('100% <i>?#&').first().waitFor()
  await page.getByRole('gridcell', { name: 'revision 1, 0, succeeded' }).click({ force: true })
  await page.waitForURL((url) => url.searchParams.get('task') === '0')
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('very')
  await page.getByRole('columnheader', { name: '0', exact: true }).waitFor({ state: 'detached' })
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wide).toBeLessThanOrEqual(narrow ?? 0)
  expect(complaints).toEqual([])
})

/** An archive with so many pushed revisions: the first four have a task `old`, the others a task `new`. */
async function aPushed(revisions: number): Promise<string> {
  const { server } = dashboard
  const name = freshName('Grown')
  await server.ask('PUT', `/v1${pathOf(name)}`, { body: { source: { type: 'push' }, from: 1 } })
  for (let rev = 1; rev <= revisions; rev += 1) {
    const tasks = [{ name: rev < 5 ? 'old' : 'new', command: 'true' }]
    await server.ask('POST', `/v1${pathOf(name)}/commits`, { body: { rev, tasks, author: 'zoe', message: `${rev}` } })
  }
  await planned(server, name, revisions)
  return name
}

test('an address leads to a task that only old revisions have, and to another one when it is changed', async () => {
  const name = await aPushed(140)
  const { page } = await dashboard.visit(`${pathOf(name)}?at=r2&task=old`)
  await rail(page).getByRole('heading', { name: 'old' }).waitFor()
  const goTo = async (search: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox', { name: 'Where to go, or what to do' }).fill(`${pathOf(name)}${search}`)
    await takeEntry(page.getByRole('menuitem', { name: /^Go to/ }))
  }
  await goTo('?at=r139&task=new')
  await rail(page).getByRole('link', { name: 'r139' }).waitFor()
  await cell(page, /^revision 139, new/).waitFor()
  await goTo('?at=r3')
  await rail(page).waitFor({ state: 'detached' })
  await cell(page, /^revision 3, old/).waitFor()
})

test('the list of a phone is scrolled by the arrow keys when it has the focus', async () => {
  const name = await aPushed(20)
  const { page } = await dashboard.visit(pathOf(name), { width: 360, height: 740 })
  const list = page.getByRole('group', { name: `Revisions of ${name}` })
  await list.getByRole('link', { name: 'r20' }).waitFor()
  await list.focus()
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => list.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0)
  expect(await rail(page).count()).toBe(0)
})

test('a viewer sees everything and may do nothing, and learns why', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  work.block('1:build-PDF')
  await aWatched({ dashboard, ground }, name, 1)
  await untilState(server, `${name}@1:build-PDF`, 'running')
  const { page } = await dashboard.visit(`${pathOf(name)}?at=r1&task=build-PDF`, { role: 'viewer' })
  const sent: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()))
  await rail(page).getByText('is running on').waitFor()
  for (const label of ['Cancel', 'Hold', 'Catch up', 'Run workflow']) {
    const button = page.getByRole('button', { name: label, exact: true })
    expect(await button.getAttribute('aria-disabled'), label).toBe('true')
    expect(await button.getAttribute('title'), label).toContain('yours is viewer')
    await button.click({ force: true })
  }
  await page.locator('[role=gridcell][tabindex="0"]').focus()
  await page.keyboard.press('c')
  await page.getByText('This needs the role operator').first().waitFor()
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  expect(sent).toEqual([])
})

test('holding is told to others, a workflow is run by hand, and its run takes the place of the cell', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  const name = freshName()
  await aWatched({ dashboard, ground }, name, 1)
  await untilState(server, `${name}@1:build-PDF`, 'succeeded')
  const { page } = await dashboard.visit(pathOf(name))
  const other = await dashboard.visit(pathOf(name), { role: 'viewer' })
  await other.page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByRole('button', { name: 'Hold', exact: true }).click()
  await other.page.getByText('New revisions are announced and wait').waitFor()
  await page.getByRole('button', { name: 'Release', exact: true }).click()
  await other.page.getByText('New revisions are announced and wait').waitFor({ state: 'detached' })
  work.failing.add('1:build-PDF#1')
  await page.getByRole('button', { name: 'Run workflow' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run a' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const before = (await server.ask('GET', `/v1/tasks/${encodeURIComponent(`${name}@1:build-PDF`)}`)).json.id
  await waitFor(async () => {
    await cell(other.page, /^revision 1, build-PDF/).click({ force: true })
    const link = await rail(other.page).getByRole('link', { name: 'Task' }).getAttribute('href')
    return link !== null && Number(link.split('/').at(-1)) > Number(before) ? true : undefined
  })
})
