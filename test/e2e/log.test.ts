// The log of a task in a real browser: long ones, live ones, hostile ones.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shell, speaking } from '../nodes.ts'
import { folder } from '../repositories/ground.ts'
import { aDashboard, type Dashboard } from './kit.ts'
import { isInView, logOf, shownLine } from './log-kit.ts'

const LINES = 200_000

let dashboard: Dashboard
let place: Awaited<ReturnType<typeof folder>>
/** The number of the task that wrote a long log. */
let long: string

beforeAll(async () => {
  place = await folder()
  dashboard = await aDashboard()
  long = await ranTask(`seq -f 'line number %.0f of a long log' ${LINES}`)
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await place[Symbol.asyncDispose]()
})

const nodes = speaking(() => dashboard.server)
const taskOf = async (node: string): Promise<string> => (await nodes.get(node)).metadata.task

async function ranTask(script: string): Promise<string> {
  const [node] = (await nodes.add(shell(script))) as [string]
  await nodes.ended(node)
  return taskOf(node)
}

test('of 200,000 lines only those in view are fetched and drawn, wherever one goes', async () => {
  const { page, complaints } = await dashboard.visit('/')
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/log/lines') && asked.push(request.url()))
  await page.goto(`${dashboard.address}/tasks/${long}/log`)
  await shownLine(page, 'line number 1 of a long log').waitFor()
  expect(asked.length).toBe(1)
  await logOf(page).focus()
  await page.keyboard.press('End')
  await isInView(page, LINES)
  await shownLine(page, `line number ${LINES} of a long log`).waitFor()
  expect(asked.length).toBeLessThanOrEqual(3)
  await page.keyboard.press('Home')
  await isInView(page, 1)
  expect(asked.length).toBeLessThanOrEqual(3)
  for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) {
    await page.evaluate((to) => {
      const box = document.querySelector('.log-box') as HTMLElement
      box.scrollTop = box.scrollHeight * to
    }, part)
    await isInView(page, Math.round(LINES * part) + 5)
    expect(await page.locator('.log-row').count()).toBeLessThan(100)
  }
  expect(asked.length).toBeLessThanOrEqual(16)
  expect(await page.locator('*').count()).toBeLessThan(1_500)
  expect(complaints).toEqual([])
})

test('a link to lines leads to them, and a choice of lines is such a link', async () => {
  const { page } = await dashboard.visit(`/tasks/${long}/log#L120000-L120004`)
  await isInView(page, 120_000)
  const chosen = page.locator('.log-row[data-chosen]')
  await expect.poll(() => chosen.count()).toBe(5)
  await page.getByRole('link', { name: 'Line 119999', exact: true }).click()
  // The second goes on from the address that the first has written.
  await page.waitForURL('**/log#L119999')
  await expect.poll(() => chosen.count()).toBe(1)
  await page.getByRole('link', { name: 'Line 120001', exact: true }).click({ modifiers: ['Shift'] })
  await page.waitForURL('**/log#L119999-L120001')
  await expect.poll(() => chosen.count()).toBe(3)
  await page.getByRole('button', { name: 'Copy lines 119999 to 120001' }).waitFor()
})

test('Ctrl-F searches the whole log on the server, by text and by pattern', async () => {
  const { page } = await dashboard.visit(`/tasks/${long}/log`)
  await shownLine(page, 'line number 1 of a long log').waitFor()
  await page.keyboard.press('Control+f')
  await page.getByRole('textbox', { name: 'Search the whole log' }).fill('number 19999')
  await page.getByText('1 of 11 lines').waitFor()
  await isInView(page, 19_999)
  await expect.poll(() => page.locator('[data-line="19999"] mark').textContent()).toBe('number 19999')
  await page.keyboard.press('Enter')
  await page.getByText('2 of 11 lines').waitFor()
  await isInView(page, 199_990)
  await page.waitForURL('**?q=number+19999')
  await page.getByRole('button', { name: 'A pattern of RE2' }).click()
  await page.getByRole('textbox', { name: 'Search the whole log' }).fill('number 1(2)3\\2?3{3} ')
  await page.locator('.log-search-error').waitFor()
  await page.getByRole('textbox', { name: 'Search the whole log' }).fill('number 1[25]0000 ')
  await page.getByText('1 of 2 lines').waitFor()
  await isInView(page, 120_000)
  // The field has the focus: the second one is the browser's, and nobody keeps it from that.
  await page.getByRole('textbox', { name: 'Search the whole log' }).focus()
  const isKept = await page.evaluate(() => {
    const press = new KeyboardEvent('keydown', {
      key: 'f',
      code: 'KeyF',
      ctrlKey: true,
      bubbles: true,
      cancelable: true,
    })
    return !(document.activeElement as Element).dispatchEvent(press)
  })
  expect(isKept).toBe(false)
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => !url.search.includes('q='))
})

test('a pattern that is chosen while one types is not lost on the way to the address', async () => {
  const { page } = await dashboard.visit(`/tasks/${long}/log`)
  await shownLine(page, 'line number 1 of a long log').waitFor()
  await page.keyboard.press('Control+f')
  const field = page.getByRole('textbox', { name: 'Search the whole log' })
  await field.waitFor()
  // What waits until somebody has typed is made due by the test.
  await page.evaluate(() => {
    const later = window.setTimeout
    const due: (() => void)[] = []
    Object.assign(window, {
      due,
      setTimeout: (run: () => void, ms?: number) => (ms === 250 ? due.push(run) : later(run, ms)),
    })
  })
  await field.fill('number 1[25]0000 ')
  await page.waitForFunction(() => (window as unknown as { due: (() => void)[] }).due.length > 0)
  await page.getByRole('button', { name: 'A pattern of RE2' }).evaluate((button: HTMLElement) => {
    button.click()
    for (const run of (window as unknown as { due: (() => void)[] }).due) run()
  })
  await page.getByText('1 of 2 lines').waitFor()
})

test('a live log is followed to its end, unless somebody reads above', async () => {
  const file = (name: string) => join(place.path, name)
  const wait = (name: string) => `while [ ! -e ${file(name)} ]; do sleep 0.1; done`
  const [node] = (await nodes.add(
    shell(`seq -f 'first %.0f' 100; ${wait('go')}; seq -f 'second %.0f' 50; ${wait('on')}; echo the end`),
  )) as [string]
  await nodes.reaches(node, 'running')
  const { page, complaints } = await dashboard.visit(`/tasks/${await taskOf(node)}/log`)
  await shownLine(page, 'first 100').waitFor()
  await writeFile(file('go'), '')
  await shownLine(page, 'second 50').waitFor()
  await isInView(page, 150)
  await page.evaluate(() => document.querySelector('.log-box')?.scrollTo(0, 0))
  await isInView(page, 1)
  await writeFile(file('on'), '')
  await page.getByRole('button', { name: '1 new line' }).click()
  await isInView(page, 151)
  await shownLine(page, 'the end').waitFor()
  await page.getByText('under way').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a line that is linked to comes into view although something moves the box before', async () => {
  const { page, context } = await dashboard.visit('/')
  // Once, as soon as it has gone there.
  await context.addInitScript(() => {
    let isMoved = false
    const move = ({ target }: Event) => {
      if (isMoved || !(target instanceof HTMLElement) || !target.matches('.log-box') || target.scrollTop === 0) return
      isMoved = true
      target.scrollTop = 0
    }
    addEventListener('scroll', move, true)
    Object.assign(window, { isMoved: () => isMoved })
  })
  await page.goto(`${dashboard.address}/tasks/${long}/log#L120000`)
  await page.waitForFunction(() => (window as unknown as { isMoved: () => boolean }).isMoved())
  await isInView(page, 120_000)
})

test('what failed opens at its first error, and n and p go through errors', async () => {
  const task = await ranTask(
    `seq -f 'fine %.0f' 3000; echo 'error: the first' >&2; seq -f 'more %.0f' 3000; echo 'fatal: the second'; exit 1`,
  )
  const { page } = await dashboard.visit(`/tasks/${task}/log`)
  await isInView(page, 3001)
  await logOf(page).focus()
  await page.keyboard.press('n')
  await page.locator('[data-line="3001"][data-current]').waitFor()
  await page.keyboard.press('n')
  await page.locator('[data-line="6002"][data-current]').waitFor()
  await isInView(page, 6002)
  await page.keyboard.press('p')
  await isInView(page, 3001)
  await page.getByRole('combobox', { name: 'Stream' }).selectOption('stderr')
  await page.waitForURL('**stream=stderr**')
  await page.getByText('1 line,').waitFor()
})

test('a step to what has not been found yet is made when it is, and not to what the search before had found', async () => {
  const task = await ranTask(`echo 'error: one'; echo fine; echo 'error: two'; seq 50; echo 'error: three'; exit 1`)
  const { page } = await dashboard.visit(`/tasks/${task}/log`)
  // One line with each answer, and each but the first takes its time.
  await page.route('**/log/search?*', async (route) => {
    const url = new URL(route.request().url())
    url.searchParams.set('limit', '1')
    if (url.searchParams.get('from_line') !== '1') await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue({ url: url.href }).catch(() => {})
  })
  await isInView(page, 1)
  const current = (line: number) => page.locator(`[data-line="${line}"][data-current]`).waitFor()
  await page.keyboard.press('n')
  await current(1)
  await page.keyboard.press('n')
  await current(3)
  await page.keyboard.press('n')
  await current(54)
  await page.keyboard.press('Control+f')
  const field = page.getByRole('textbox', { name: 'Search the whole log' })
  await field.fill('fine')
  await current(2)
  await field.fill('error: t')
  await current(3)
})

test('groups are closed and opened, however long, and progress is folded', async () => {
  const task = await ranTask(
    `echo before; echo '::group::Build'; seq 2000; echo '::endgroup::'; printf '10%%\\r90%%\\r100%%\\n'; echo after`,
  )
  const { page } = await dashboard.visit(`/tasks/${task}/log`)
  await shownLine(page, 'before').waitFor()
  expect(await shownLine(page, 'after').count()).toBe(0)
  await page.getByRole('button', { name: 'Close the group' }).click()
  await shownLine(page, 'after').waitFor()
  await expect.poll(() => page.locator('[data-line="2004"] .log-text').textContent()).toBe('↻2100%')
  await page.getByRole('button', { name: 'Open the group' }).click()
  await page.locator('[data-line="3"]').waitFor()
})

test('hostile output is text, whatever it says', async () => {
  const script = [
    `printf '<img src=x onerror=alert(1)><script>document.title="owned"</script>\\n'`,
    `printf '\\033]8;;javascript:alert(1)\\033\\\\a trap\\033]8;;\\033\\\\ \\033]8;;https://example.org/\\033\\\\a link\\033]8;;\\033\\\\\\n'`,
    `printf '\\033[31;1mred\\033[0m \\033[38;2;1;2;3mtrue\\033[0m \\033[2J\\033[10;10Hmoved\\033]0;title\\007\\n'`,
    `printf '\\377\\376 no utf-8 \\300\\200\\n'`,
    `printf 'user \\342\\200\\256nimda\\342\\200\\254 end\\n'`,
    `printf '\\327\\251\\327\\234\\327\\225\\327\\235 abc\\n'`,
    `head -c 300000 /dev/zero | tr '\\0' 'x'; echo`,
    'echo last',
  ]
  const task = await ranTask(script.join('; '))
  const { page, complaints } = await dashboard.visit(`/tasks/${task}/log`)
  let dialogs = 0
  page.on('dialog', (dialog) => {
    dialogs += 1
    void dialog.dismiss()
  })
  const text = (line: number) => page.locator(`[data-line="${line}"] .log-text`)
  await shownLine(page, '<img src=x onerror=alert(1)><script>document.title="owned"</script>').waitFor()
  expect(await logOf(page).locator('img, script').count()).toBe(0)
  expect(await logOf(page).getByRole('link', { name: 'a link' }).getAttribute('href')).toBe('https://example.org/')
  expect(await logOf(page).getByRole('link', { name: 'a trap' }).count()).toBe(0)
  expect(await text(3).textContent()).toBe('red true moved')
  expect(
    await text(3)
      .locator('span')
      .nth(1)
      .evaluate((span) => getComputedStyle(span).color),
  ).toBe('rgb(1, 2, 3)')
  expect(await text(4).textContent()).toContain('\ufffd no utf-8 ')
  expect(await text(5).textContent()).toBe('user U+202Enimda U+202C end'.replace(' U+202C', 'U+202C'))
  expect(await text(6).textContent()).toBe('שלום abc')
  expect((await text(7).textContent())?.length).toBeLessThan(2_100)
  await text(7)
    .getByRole('button', { name: /more characters/ })
    .click()
  await text(7)
    .getByRole('link', { name: /this line has 293.0 KB/ })
    .waitFor()
  expect([await page.title(), dialogs]).toEqual([expect.stringContaining('Log of'), 0])
  expect(complaints).toEqual([])
})

test('the log as plain text, and as a file, is whole', async () => {
  const { page } = await dashboard.visit(`/tasks/${long}/log`)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the log' }).click(),
  ])
  let [size, lines] = [0, 0]
  for await (const chunk of await download.createReadStream()) {
    size += chunk.length
    lines += String(chunk).split('\n').length - 1
  }
  expect(lines).toBe(LINES)
  expect(size).toBeGreaterThan(16 * LINES)
  await page.getByRole('link', { name: 'As plain text' }).click()
  await page.locator('pre').getByText('line number 2000 of a long log').waitFor()
  await page.getByRole('link', { name: 'Lines after' }).click()
  await page.locator('pre').getByText('line number 4000 of a long log').waitFor()
})
