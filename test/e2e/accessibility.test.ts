// Every screen of the router, with data on it: looked at by axe in each theme, and on a phone.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitFiles, registered } from '../archives.ts'
import { waitFor } from '../processes.ts'
import type { Ground } from '../repositories/ground.ts'
import { svnFiles } from '../repositories/svn.ts'
import { aDashboard, type Dashboard, takeEntry, untilFocusIn } from './kit.ts'

const WORKFLOW = `
on:
  commit: {}
  schedule: { cron: "0 4 * * *", timezone: UTC }
tasks:
  - name: grind
    depends: PREV
    script: echo "grinding revision $MILLRACE_REVISION"
  - name: sieve
    depends: grind
    script: |
      echo "error: the sieve is torn" >&2
      exit 3
  - name: pack
    depends: sieve
    command: [echo, packed]
`

let dashboard: Dashboard
let ground: Ground
/** Where each screen is looked at, by its path in the router. */
let screens: Readonly<Record<string, string>>

beforeAll(async () => {
  dashboard = await aDashboard({ poll_seconds: 1 })
  ground = await svnFiles()
  const { server } = dashboard
  const { name, plain } = await registered(server, ground, { from: 1, first: [{ '_workflows/mill.yaml': WORKFLOW }] })
  for (const text of ['corn', 'rye']) await commitFiles(plain, { sacks: text }, `bring ${text}`)
  await server.ask('POST', '/v1/nodes', {
    body: [
      { metadata: { type: 'command', parent: 'root' }, data: { command: 'echo', args: ['hello'] } },
      { metadata: { type: 'command', parent: '#0' }, data: { command: 'false' } },
    ],
  })
  await server.ask('POST', '/v1/tokens', { body: { name: 'ci', role: 'submitter' } })
  const held = await dashboard.graph.add({ scope: 'mill', key: 'held' })
  await server.ask('POST', `/v1/tasks/${held}/hold`)
  const failed = await waitFor(
    async () => (await server.ask('GET', '/v1/tasks?state=failed&q=3:sieve')).json.items[0]?.id,
  )
  const archive = `/archives/${name}`
  screens = {
    '/': '/',
    '/sign-in': '/sign-in',
    '/archives': '/archives',
    '/archives/$name': archive,
    '/archives/$name/definitions': `${archive}/definitions`,
    '/archives/$name/r/$rev': `${archive}/r/3`,
    '/archives/$name/r/$rev/$task': `${archive}/r/3/sieve`,
    '/tasks': '/tasks',
    '/tasks/$id': `/tasks/${failed}`,
    '/tasks/$id/log': `/tasks/${failed}/log`,
    '/nodes': '/nodes',
    '/timeline': '/timeline',
    '/workers': '/workers',
    '/schedules': '/schedules',
    '/events': '/events',
    '/settings': '/settings',
    '/settings/': '/settings/',
    '/settings/appearance': '/settings/appearance',
    '/settings/tokens': '/settings/tokens',
    '/settings/webhooks': '/settings/webhooks',
    '/settings/secrets': '/settings/secrets',
    '/settings/hooks': '/settings/hooks',
    '/settings/about': '/settings/about',
  }
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await ground[Symbol.asyncDispose]()
})

test('every screen of the router is looked at', async () => {
  const text = await readFile(new URL('../../web/src/router.tsx', import.meta.url), 'utf8')
  const declared = [...text.matchAll(/createRoute\(\{\s*getParentRoute: ([^\n]*),\s*path: '([^']*)'/g)]
  const paths = declared.map(([, parent = '', path = '']) => (parent.includes('settings') ? `/settings${path}` : path))
  expect(paths.length).toBe(text.match(/\bpath: '/g)?.length)
  expect(Object.keys(screens).sort()).toEqual(paths.sort())
})

async function arrive(page: Page, path: string): Promise<void> {
  await page.goto(dashboard.address + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
}

type Finding = { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }

const AXE = createRequire(import.meta.url).resolve('axe-core')

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds that keeps somebody from using the page. */
async function look(page: Page, runOnly: readonly string[] = standards): Promise<string[]> {
  const source = await readFile(AXE, 'utf8')
  // The content policy lets no script into the page; a debugger may.
  await page.evaluate(`typeof axe === 'undefined' && (() => { ${source} })()`)
  const violations = await page.evaluate(async (rules) => {
    const { axe } = window as unknown as {
      axe: { run(of: Document, options: object): Promise<{ violations: Finding[] }> }
    }
    return (await axe.run(document, { runOnly: rules, resultTypes: ['violations'] })).violations
  }, runOnly)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
}

test('on no screen axe finds anything serious, light or dark, and no screen scrolls sideways on a phone', async () => {
  const { page } = await dashboard.visit('/')
  const findings: Record<string, string[]> = {}
  const wide: Record<string, number> = {}
  for (const [screen, path] of Object.entries(screens)) {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await arrive(page, path)
    const found = await look(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-theme="dark"]').waitFor()
    // Of the standards, only contrast depends on the theme.
    found.push(...(await look(page, ['color-contrast'])).map((finding) => `dark: ${finding}`))
    if (found.length > 0) findings[screen] = found
    await page.setViewportSize({ width: 360, height: 740 })
    const width = await page.evaluate(async () => {
      for (let i = 0; i < 2; i += 1) await new Promise((done) => requestAnimationFrame(done))
      return document.documentElement.scrollWidth
    })
    if (width > 360) wide[screen] = width
  }
  expect({ findings, wide }).toEqual({ findings: {}, wide: {} })
}, 300_000)

test('axe finds nothing serious in high contrast, in the palette, in the help and in a menu', async () => {
  const { page } = await dashboard.visit('/settings/appearance')
  await page.getByRole('main').getByRole('button', { name: 'High contrast' }).click()
  const findings: Record<string, string[]> = {}
  const note = async (name: string) => {
    const found = await look(page)
    if (found.length > 0) findings[name] = found
  }
  for (const screen of ['/', '/archives/$name', '/tasks', '/tasks/$id', '/nodes']) {
    await arrive(page, screens[screen] ?? '')
    await note(screen)
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('sieve')
  await page.getByRole('menuitem', { name: /sieve/ }).first().waitFor()
  await note('palette')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await untilFocusIn(page.getByRole('dialog', { name: 'Keys' }))
  await note('help')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menu').waitFor()
  await note('menu')
  expect(findings).toEqual({})
}, 300_000)

test('with colours of the person’s own, what is chosen and where the focus is can be seen', async () => {
  const { page } = await dashboard.visit('/tasks')
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
  const current = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tasks' })
  await expect.poll(() => current.evaluate((link) => getComputedStyle(link).outlineStyle)).toBe('solid')
  await page.keyboard.press('Tab')
  await page.locator(':focus').waitFor()
  await expect
    .poll(() => page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle))
    .not.toBe('none')
  const moving = () =>
    page.evaluate(
      () =>
        [...document.querySelectorAll('*')].filter((one) => {
          const { transitionDuration, animationDuration } = getComputedStyle(one)
          return [transitionDuration, animationDuration].some((time) => Number.parseFloat(time) > 0.001)
        }).length,
    )
  await expect.poll(moving).toBe(0)
})

test('the shell is gone through by keyboard alone, and the focus is always somewhere that is seen', async () => {
  const { page } = await dashboard.visit('/')
  const focused = () =>
    page.evaluate(() => {
      const one = document.activeElement
      const box = one?.getBoundingClientRect()
      const name = one?.getAttribute('aria-label') ?? one?.textContent ?? ''
      return { name: name.trim(), isSeen: box !== undefined && box.width > 0 && box.bottom > 0 }
    })
  const seen: string[] = []
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press('Tab')
      const { name: here, isSeen } = await focused()
      if (!isSeen) await expect.poll(async () => (await focused()).isSeen, { message: here }).toBe(true)
      seen.push(here)
      if (name.test(here)) return
    }
    throw new Error(`${name} is not reached: ${seen.join(', ')}`)
  }
  await tabTo(/^Skip to the content/)
  await page.keyboard.press('Enter')
  await page.locator('#main:focus').waitFor()
  await page.keyboard.press('Control+k')
  await page.locator('input[type="search"]:focus').waitFor()
  await page.keyboard.type('tasks')
  await page.getByRole('menuitem', { name: 'Search tasks for tasks' }).waitFor()
  await takeEntry(page.getByRole('menuitem', { name: /^Tasks/ }).first())
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor()
  await tabTo(/^Theme/)
  await page.keyboard.press('Enter')
  const item = (name: string) => page.locator('[role=menuitem]:focus').and(page.getByRole('menuitem', { name }))
  await item('As the system').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await item('Dark').waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await expect.poll(async () => (await focused()).name).toMatch(/^Theme/)
  await tabTo(/^Account/)
  await tabTo(/^Workers$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
  await page.locator('#main:focus').waitFor()
})
