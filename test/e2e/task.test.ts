// The page of a task and the list of tasks, as people use them: with real commits, real commands and a real browser.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planned, registered, untilState } from '../archives.ts'
import { below, shell, speaking } from '../nodes.ts'
import { aPushArchive } from '../push-archive.ts'
import { folder, type Ground } from '../repositories/ground.ts'
import { svnFiles } from '../repositories/svn.ts'
import { aDashboard, type Dashboard, goAhead, linesOf, placesOf, untilFocusIn, watchMoves } from './kit.ts'

let dashboard: Dashboard
let ground: Ground
let place: Awaited<ReturnType<typeof folder>>
/** The archive, and the file whose being there makes its build succeed. */
let archive: string
let mend: string

/** `compile` fails until the file is there; `pages` needs it; `news` goes its own way and leaves a file behind. */
const workflow = (file: string) => `
- name: prepare
  script: "echo preparing"
- name: compile
  depends: [prepare]
  script: |
    echo "::group::Compile"
    for i in 1 2 3 4 5; do echo "cc file-$i.c"; done
    echo "::endgroup::"
    if [ -e ${file} ]; then echo "all is well"; exit 0; fi
    echo "error: missing.h is not there" >&2
    exit 5
- name: pages
  depends: [compile]
  script: "echo never"
- name: news
  script: "mkdir out && echo hello > out/news.txt"
  artifacts: ["out/*"]
`

beforeAll(async () => {
  place = await folder()
  ground = await svnFiles()
  mend = join(place.path, 'missing.h')
  dashboard = await aDashboard({ poll_seconds: 1 })
  const first = [{ '_workflows/main.yaml': workflow(mend) }]
  archive = (await registered(dashboard.server, ground, { from: 1, first })).name
  await planned(dashboard.server, archive, 1)
  await untilState(dashboard.server, `${archive}@1:pages`, 'skipped')
  await untilState(dashboard.server, `${archive}@1:news`, 'succeeded')
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await ground[Symbol.asyncDispose]()
  await place[Symbol.asyncDispose]()
})

const nodes = speaking(() => dashboard.server)
const isWide = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
const whyOf = (page: Page) => page.locator('section').filter({ has: page.getByRole('heading', { name: 'Why' }) })

test('a task of an archive is shown by its natural key, with the way it took and what it left behind', async () => {
  const { page, complaints } = await dashboard.visit(`/archives/${archive}/r/1/news`)
  await page.getByRole('heading', { level: 1, name: `${archive}@1:news` }).waitFor()
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumbs' })
  expect(await crumbs.getByRole('link', { name: 'r1' }).getAttribute('href')).toBe(`/archives/${archive}/r/1`)
  const states = page.getByRole('list', { name: 'States, the first one first' })
  await states.getByText('succeeded').waitFor()
  await states.getByRole('listitem').first().getByText('waiting').first().waitFor()
  await page.getByRole('tab', { name: 'Input and output' }).click()
  await page.waitForURL('**?tab=data')
  const file = page.getByRole('table', { name: 'Files' }).getByRole('link', { name: 'out/news.txt' })
  const [download] = await Promise.all([page.waitForEvent('download'), file.click()])
  expect(await streamed(await download.createReadStream())).toBe('hello\n')
  await page.getByRole('tab', { name: 'JSON' }).click()
  await page.getByRole('group', { name: 'task', exact: true }).getByText(`"archive:${archive}"`).waitFor()
  expect(complaints).toEqual([])
})

async function streamed(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

test('the why panel names the culprit and leads to it', async () => {
  const { page } = await dashboard.visit(`/archives/${archive}/r/1/pages`)
  await whyOf(page).getByText('was skipped, because').waitFor()
  await whyOf(page)
    .getByRole('list', { name: 'Because of' })
    .getByRole('link', { name: `${archive}@1:compile` })
    .click()
  await page.getByRole('heading', { level: 1, name: `${archive}@1:compile` }).waitFor()
  await whyOf(page).getByText('failed: exited with 5').waitFor()
  await page.getByText('exit code 5').first().waitFor()
})

test('what runs says since when, in the zone that was chosen', async () => {
  const [id] = await nodes.add(shell('sleep 3600'))
  await untilState(dashboard.server, `node/${id}`, 'running')
  const { page } = await dashboard.visit()
  await page.evaluate(() => localStorage.setItem('millrace-zone', 'utc'))
  await page.goto(`${dashboard.address}/tasks/node%2F${id}`)
  const since = whyOf(page).locator('time')
  const at = (await since.getAttribute('datetime')) ?? ''
  const look = { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' } as const
  const written = await page.evaluate(
    ([stamp, options]) => new Intl.DateTimeFormat(undefined, options).format(Date.parse(stamp)),
    [at, look] as const,
  )
  expect(await since.textContent()).toBe(written)
  expect(await whyOf(page).textContent()).not.toContain(at)
  await dashboard.server.ask('POST', `/v1/tasks/node%2F${id}/cancel`)
})

test('the name of a worker stands on one line beside what was wrong', async () => {
  const { page } = await dashboard.visit(`/archives/${archive}/r/1/compile?tab=attempts`)
  const attempts = page.getByRole('table', { name: 'Attempts' })
  await attempts.getByText('exited with 5').first().waitFor()
  const heads = await attempts.getByRole('columnheader').allTextContents()
  const worker = attempts.getByRole('row').nth(1).getByRole('cell').nth(heads.indexOf('Worker'))
  await expect.poll(() => linesOf(worker)).toBe(1)
})

test('a viewer sees everything and can do nothing, in the page and at the server', async () => {
  const { page, complaints } = await dashboard.visit(`/archives/${archive}/r/1/compile`, { role: 'viewer' })
  const retry = page.getByRole('button', { name: 'Retry' })
  await retry.waitFor()
  expect(await retry.getAttribute('aria-disabled')).toBe('true')
  expect(await retry.getAttribute('title')).toBe('This needs the role operator; yours is viewer.')
  await retry.click({ force: true })
  await page.keyboard.press('r')
  const status = await page.evaluate(async (key) => {
    const answer = await fetch(`/v1/tasks/${encodeURIComponent(key)}/retry`, { method: 'POST' })
    return answer.status
  }, `${archive}@1:compile`)
  expect(status).toBe(403)
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  expect(complaints.filter((text) => !text.includes('403'))).toEqual([])
})

test('an action that the state does not allow says why', async () => {
  const { page } = await dashboard.visit(`/archives/${archive}/r/1/news`)
  await page.getByRole('button', { name: 'Run again' }).waitFor()
  await page.keyboard.press('.')
  const items = page.getByRole('menu').getByRole('menuitem')
  await items.filter({ hasText: 'Only what failed, was canceled or skipped is retried.' }).waitFor()
  await items.filter({ hasText: 'Only what has not started can be held.' }).waitFor()
})

test('a task that has not started gets another priority, and one that has says why not', async () => {
  const { page } = await dashboard.visit(`/archives/${archive}/r/1/news`)
  await page.getByRole('button', { name: 'Run again' }).waitFor()
  await page.keyboard.press('.')
  const refused = page.getByRole('menuitem').filter({ hasText: 'Only what has not started can be moved' })
  await refused.waitFor()
  const id = await dashboard.graph.add()
  await page.goto(`${dashboard.address}/tasks/${id}`)
  await page.getByRole('button', { name: 'Cancel' }).waitFor()
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: 'Priority' }).click()
  await page.getByLabel('Priority', { exact: true }).fill('-5')
  await page.getByRole('button', { name: 'Set priority' }).click()
  await page.getByText('has priority -5').waitFor()
  const { json } = await dashboard.server.ask('GET', `/v1/tasks/${id}`)
  expect(json).toMatchObject({ priority: -5 })
  await dashboard.server.ask('POST', `/v1/tasks/${id}/cancel`)
})

test('with the keyboard only: find a failure, read its log, retry it, see it succeed', async () => {
  const { page, complaints } = await dashboard.visit('/tasks')
  await page.getByRole('link', { name: `${archive}@1:compile` }).waitFor()
  await page.keyboard.press('/')
  await page.locator('[data-filter]:focus').waitFor()
  await page.keyboard.type('state:fa')
  await page.getByRole('option', { name: /state:failed/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.getByRole('option', { name: /state:failed/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/tasks?q=state%3Afailed')
  await page.getByRole('link', { name: `${archive}@1:pages` }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: `${archive}@1:compile` }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await expectFocus(page, `${archive}@1:compile`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: `${archive}@1:compile` }).waitFor()
  await page.keyboard.press('l')
  await page.getByRole('group', { name: 'Log of attempt 1' }).getByText('error: missing.h is not there').waitFor()
  await writeFile(mend, '')
  await page.keyboard.press('r')
  const dialog = page.getByRole('alertdialog', { name: 'Retry this task?' })
  await dialog.getByText(`${archive}@1:compile`).waitFor()
  await untilFocusIn(dialog)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await expectFocus(page, 'Retry')
  await page.keyboard.press('Enter')
  await page.locator('.page-summary').getByText('succeeded').waitFor()
  await page.getByRole('group', { name: 'Log of attempt 2' }).getByText('all is well').waitFor()
  await untilState(dashboard.server, `${archive}@1:pages`, 'succeeded')
  expect(complaints).toEqual([])
})

async function expectFocus(page: Page, name: string): Promise<void> {
  await page.waitForFunction((text) => document.activeElement?.textContent === text, name)
}

test('tasks that are selected are held and canceled together, after a look at what it would do', async () => {
  const [first] = await nodes.add(shell('sleep 600'))
  const ids = await nodes.add(...['a', 'b', 'c'].map((word) => below(first as string, shell(`echo ${word}`))))
  const { page } = await dashboard.visit('/tasks?q=scope:node+state:waiting,held')
  await page.getByRole('link', { name: `node/${ids[2]}` }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('1 selected').waitFor()
  await page.keyboard.press('J')
  await page.getByText('2 selected').waitFor()
  await page.keyboard.press('J')
  await page.getByText('3 selected').waitFor()
  await page.getByRole('button', { name: 'Hold 3' }).click()
  await page.getByRole('alertdialog').getByRole('listitem').nth(2).waitFor()
  expect(await page.getByRole('alertdialog').getByRole('listitem').allInnerTexts()).toEqual(
    ids.toReversed().map((id) => `node/${id}`),
  )
  await page.getByRole('alertdialog').getByRole('button', { name: 'Hold 3' }).click()
  await page.getByText('3 tasks: is held').waitFor()
  await page.getByRole('row').filter({ hasText: 'held' }).nth(2).waitFor()
  await nodes.ask('PUT', `/v1/scheduler/kill?id=${first}`)
})

test('rows keep their places: what is new is counted, and shown when asked for', async () => {
  await dashboard.graph.add({ scope: 'still', key: 'first' })
  const { page } = await dashboard.visit('/tasks?q=scope:still')
  await page.getByRole('link', { name: 'still/first' }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await dashboard.graph.add({ scope: 'still', key: 'second' })
  await dashboard.graph.add({ scope: 'other', key: 'third' })
  await page.getByRole('button', { name: '1 new' }).waitFor()
  expect(await page.getByRole('link', { name: 'still/second' }).count()).toBe(0)
  await page.getByRole('button', { name: '1 new' }).click()
  await page.getByRole('link', { name: 'still/second' }).waitFor()
  await expect.poll(() => page.getByRole('button', { name: /new$/ }).count()).toBe(0)
})

test('the badge says live when the rows are of this moment, not before', async () => {
  await dashboard.graph.add({ scope: 'caught-up', key: 'first' })
  const { page } = await dashboard.visit('/tasks?q=scope:caught-up')
  await page.getByRole('link', { name: 'caught-up/first' }).waitFor()
  await page.getByRole('button', { name: /^live/ }).click()
  let answer = () => {}
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/v1/tasks?**', (route) => isAnswered.then(() => route.continue()))
  await page.getByRole('button', { name: /^paused/ }).click()
  // Its event comes, so the stream stands; what came before it is not there yet.
  await expect
    .poll(async () => {
      await dashboard.graph.add({ scope: 'caught-up' })
      return page.getByRole('button', { name: /new$/ }).count()
    })
    .toBe(1)
  expect(await page.getByRole('button', { name: /^catching up/ }).count()).toBe(1)
  answer()
  await page.getByRole('button', { name: /^live/ }).waitFor()
})

test('a long list is fetched page by page, and only what is in view is in the document', async () => {
  const items = Array.from({ length: 450 }, (_, i) => dashboard.graph.add({ scope: 'many', key: `task-${i}` }))
  await Promise.all(items)
  const { page } = await dashboard.visit('/workers')
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/v1/tasks?') && asked.push(request.url()))
  await page.goto(`${dashboard.address}/tasks?q=scope:many`)
  // When the stream begins, several pages would begin anew.
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await page.getByText('100 so far').waitFor()
  expect(await page.getByRole('row').count()).toBeLessThan(80)
  for (const count of ['200 so far', '300 so far', '400 so far', '450 in all']) {
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await page.getByText(count).waitFor()
  }
  expect(await page.getByRole('row').count()).toBeLessThan(80)
  // The first page comes once more when the stream of events stands; every other one comes once.
  const later = asked.filter((url) => url.includes('cursor='))
  expect([later.length, new Set(later).size]).toEqual([4, 4])
  expect(asked.length).toBeLessThanOrEqual(6)
})

test('the names of tasks are whole on screens of 1440, 1024, 768 and 390 pixels', async () => {
  await dashboard.graph.add({ scope: 'archive:Handbook-of-Mills', key: '1234:build-reference-PDF' })
  const { page } = await dashboard.visit('/tasks?q=scope:archive:Handbook-of-Mills')
  const name = page.getByRole('link', { name: 'Handbook-of-Mills@1234:build-reference-PDF' })
  await name.waitFor()
  for (const width of [1440, 1024, 768, 390]) {
    await page.setViewportSize({ width, height: 768 })
    const hidden = await name.evaluate((link) => {
      const box = (link.parentElement as Element).getBoundingClientRect()
      const range = document.createRange()
      range.selectNodeContents(link)
      return [...range.getClientRects()].filter(
        ({ top, right, bottom }) => right > box.right + 1 || bottom > box.bottom + 1 || top < box.top - 1,
      ).length
    })
    expect(hidden, `${width} pixels`).toBe(0)
  }
})

test('nothing moves on a page while work goes on', async () => {
  const { server, graph } = dashboard
  const gate = join(place.path, `gate-${process.pid}`)
  const wait = `while [ ! -e ${gate} ]; do sleep 0.05; done`
  const pushed = await aPushArchive(server)
  const steps = `- { name: prepare, script: "${wait}" }\n- { name: build, command: "true", depends: [prepare, PREV] }\n`
  await pushed.commit({ 'a.yaml': steps })
  await pushed.commit({ 'b.yaml': '- { name: lint, command: "true" }\n' })
  const [top] = await nodes.add(shell(wait))
  const [child] = await nodes.add(below(top as string, shell('echo child')))
  await untilState(server, `node/${top}`, 'running')
  await graph.add({ scope: 'moves', key: 'bad', payload: 'broken' })
  await graph.perform()
  await graph.add({ scope: 'moves', key: 'first' })
  const screens = [
    ['/tasks', '.tasks-row'],
    [`/archives/${pushed.name}`, '.loom-column-name >> nth=2'],
    ['/', '.plot canvas, .overview-charts .empty'],
    ['/nodes', '.tree-row'],
  ] as const
  const watched = await Promise.all(
    screens.map(async ([path, ready]) => {
      const { page } = await dashboard.visit(path, { width: 1024, height: 768 })
      await page.getByRole('button', { name: /^live/ }).waitFor()
      await page.locator('.main').getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
      await page.locator(ready).first().waitFor()
      return { path, page, moves: await watchMoves(page), before: await placesOf(page) }
    }),
  )
  for (let i = 0; i < 12; i += 1) await graph.add({ scope: 'moves', key: `more-${i}` })
  await graph.perform()
  // Times of all lengths while somebody looks: 10 min, 3 h and 2 d later.
  for (const [seconds, later] of [
    [600, /^1\d min/],
    [10_800, /^3 h/],
    [172_800, /^2 d/],
  ] as const)
    await Promise.all(
      watched.map(async ({ page }) => {
        await goAhead(page, seconds)
        await page.locator('.main').getByText(later).first().waitFor()
      }),
    )
  const [list] = watched
  await writeFile(gate, '')
  await untilState(server, `node/${child}`, 'succeeded')
  await untilState(server, `${pushed.name}@1:build`, 'succeeded')
  await list?.page
    .getByRole('row')
    .filter({ hasText: `node/${child}` })
    .getByText('succeeded')
    .waitFor()
  for (const { path, page, moves, before } of watched) {
    expect(await moves(), path).toEqual([])
    expect(await placesOf(page), path).toEqual(before)
  }
})

test('a filter that cannot be understood says what is wrong, and can be mended', async () => {
  const { page } = await dashboard.visit('/tasks?q=scope:archive:*+colour:red')
  await page.getByRole('alert').getByText('"colour:" is not known').waitFor()
  await page.getByRole('button', { name: 'Take out colour:red' }).click()
  await page.waitForURL('**/tasks?q=scope%3Aarchive%3A*')
  await page.getByRole('link', { name: `${archive}@1:compile` }).waitFor()
})

test('a command of any length does not widen the page', async () => {
  const [id] = await nodes.add(shell(`echo ${'word '.repeat(100)}`))
  const { page } = await dashboard.visit(`/tasks/node%2F${id}`)
  await page.locator('.task-command', { hasText: 'word word' }).waitFor()
  await expect.poll(() => isWide(page)).toBe(false)
})

test('on a phone, the task, the list and the log fit', async () => {
  const { page, complaints } = await dashboard.visit(`/archives/${archive}/r/1/compile`, { width: 360, height: 740 })
  await page.getByRole('group', { name: /Log of attempt/ }).waitFor()
  await expect.poll(() => isWide(page)).toBe(false)
  for (const tab of ['Attempts', 'Input and output', 'Requirements', 'Events', 'JSON']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.getByRole('tab', { name: tab, selected: true }).waitFor()
    await expect.poll(() => isWide(page), { message: tab }).toBe(false)
  }
  await page.goto(`${dashboard.address}/tasks?q=scope:archive:*`)
  await page.getByRole('link', { name: `${archive}@1:compile` }).waitFor()
  await expect.poll(() => isWide(page)).toBe(false)
  expect(complaints).toEqual([])
})
