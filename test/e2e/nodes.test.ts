import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { below, command, shell, sleeping, speaking, type TestNodes } from '../nodes.ts'
import { isAlive, waitFor } from '../processes.ts'
import { scratch } from '../scratch.ts'
import { aDashboard, type Dashboard } from './kit.ts'

let dashboard: Dashboard
let nodes: Omit<TestNodes, 'server'>

beforeAll(async () => {
  dashboard = await aDashboard()
  nodes = speaking(() => dashboard.server)
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

const rows = (page: Page) => page.getByRole('treegrid', { name: 'Nodes' }).getByRole('row')
const row = (page: Page, text: string) => rows(page).filter({ hasText: text })
/** Opens a row once there is something below it. */
const openRow = (page: Page, text: string) =>
  row(page, text).and(page.locator('[aria-expanded="false"]')).locator('.tree-twisty').click()
const isLive = (page: Page) => page.getByRole('button', { name: /^live/ }).waitFor()

describe('a tree from the page', () => {
  test('is added, runs, and its output is seen while it is written', async () => {
    const { page, complaints } = await dashboard.visit('/nodes')
    await isLive(page)
    await page.getByRole('button', { name: 'Add a tree' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByLabel('Command', { exact: true })
      .fill('echo begun; while [ ! -e "$GATE" ]; do sleep 0.1; done; echo after; echo bad >&2')
    const gate = join((await scratch()).path, 'gate')
    await dialog.getByLabel('Environment').fill(`GATE=${gate}`)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.waitForURL(/node=\d+/)
    const output = page.getByRole('group', { name: 'Output, Mixed' })
    await output.getByText('begun').waitFor()
    await page.getByText('Following: more may come.').waitFor()
    expect(await output.textContent()).not.toContain('after')
    await nodes.run(command('touch', gate))
    await output.getByText('after').waitFor()
    await row(page, 'echo begun').getByText('finished').waitFor()
    await page.getByRole('button', { name: 'stderr' }).click()
    await page.waitForURL(/pane=stderr/)
    await expect.poll(() => page.getByRole('group', { name: 'Output, stderr' }).textContent()).toBe('bad\n')
    expect(complaints).toEqual([])
  })

  test('grows by a chain, which shows up by itself for others', async () => {
    const [top] = await nodes.add(shell('exit 0 # holds a chain'))
    await nodes.ended(top as string)
    const other = await dashboard.visit('/nodes')
    await isLive(other.page)
    const { page } = await dashboard.visit(`/nodes?node=${top}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Add a chain below' }).click()
    await page.getByRole('dialog').getByLabel('Commands').fill('echo first\nexit 4\necho never')
    await page.getByRole('button', { name: 'Add the chain' }).click()
    await openRow(other.page, 'holds a chain')
    await openRow(other.page, 'echo first')
    const failed = row(other.page, 'exit 4')
    await failed.getByText('failed').waitFor()
    await failed.getByText('4', { exact: true }).waitFor()
    await openRow(other.page, 'exit 4')
    await row(other.page, 'echo never').getByText('skipped').waitFor()
  })
})

describe('acting', () => {
  test('killing asks first, naming the node, and its process is really gone', async () => {
    const [id] = await nodes.add(shell('echo pid=$$; exec sleep 7000'))
    const { page } = await dashboard.visit(`/nodes?node=${id}`)
    const output = page.getByRole('group', { name: 'Output, Mixed' })
    await output.getByText('pid=').waitFor()
    const pid = Number(/pid=(\d+)/.exec((await output.textContent()) ?? '')?.[1])
    expect(isAlive(pid)).toBe(true)
    await page.getByRole('button', { name: 'Kill' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText(`${id} echo pid=$$`).waitFor()
    await dialog.getByRole('button', { name: 'Keep as it is' }).click()
    expect(isAlive(pid)).toBe(true)
    await page.getByRole('button', { name: 'Kill' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Kill', exact: true }).click()
    await row(page, 'echo pid=').getByText('killed').waitFor()
    await waitFor(() => (isAlive(pid) ? undefined : true))
    expect(await nodes.states(id as string)).toEqual(['killed'])
  })

  test('what waits is edited and moved; what somebody changed meanwhile is not overwritten', async () => {
    const [gate, other, id] = await nodes.add(sleeping(7000), sleeping(7000), below('#0', command('echo', 'old words')))
    const { page } = await dashboard.visit(`/nodes?node=${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Arguments').fill('new words')
    await page.getByLabel('Runs after').selectOption('always')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 2, name: "echo 'new words'" }).waitFor()
    expect((await nodes.get(id as string)).data).toMatchObject({ args: ['new words'], run_if: 'always' })

    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Arguments').fill('mine')
    await nodes.ask('PATCH', `/v1/nodes/${id}`, { body: { data: { args: ['theirs'] } } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    expect((await nodes.get(id as string)).data.args).toEqual(['theirs'])
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Move …', exact: true }).click()
    await page.getByLabel('New parent').fill(String(other))
    await page.getByRole('button', { name: 'Move', exact: true }).click()
    await page.getByRole('navigation', { name: 'Above this node' }).getByText(String(other)).waitFor()
    expect((await nodes.get(id as string)).metadata.parent).toBe(other)
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${gate},${other},${id}`)
  })

  test('data is changed key by key, until the node starts where it means something', async () => {
    const [gate, id] = await nodes.add(sleeping(7000), below('#0', command('true'), { data: { note: 1 } }))
    const { page } = await dashboard.visit(`/nodes?node=${id}&pane=data`)
    await isLive(page)
    await page.getByRole('button', { name: 'Change note' }).click()
    await page.getByLabel('Value').fill('{"deep": [1, "two"]}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await nodes.value(id as string, 'note')).toEqual({ deep: [1, 'two'] })
    await page.getByRole('button', { name: 'Add a key' }).click()
    await page.getByRole('textbox', { name: 'Key' }).fill('huge')
    await page.getByLabel('Value').fill('12345678901234567890')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByText('more digits than a browser keeps').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${gate},${id}`)
    await expect
      .poll(() => page.getByRole('button', { name: 'Change command' }).getAttribute('title'))
      .toContain('until the node starts')
  })

  test('a chain is removed after a question that names all of it', async () => {
    const chain = await nodes.add(
      shell('true # top of a chain'),
      below('#0', command('echo', 'middle')),
      below('#1', command('echo', 'last')),
    )
    await nodes.ended(...chain)
    const { page } = await dashboard.visit(`/nodes?node=${chain[0]}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Remove with all below …' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText(`${chain[1]} echo middle`).waitFor()
    await dialog.getByText(`${chain[2]} echo last`).waitFor()
    await dialog.getByRole('button', { name: 'Remove 3 nodes' }).click()
    await row(page, 'top of a chain').waitFor({ state: 'detached' })
    for (const id of chain) expect((await nodes.ask('GET', `/v1/nodes/${id}`)).status).toBe(404)
  })

  test('waiting tells when a node has ended, also while another one is looked at', async () => {
    const [id, other] = await nodes.add(sleeping(7000), shell('true # looked at meanwhile'))
    const { page } = await dashboard.visit(`/nodes?node=${id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Tell me when it has ended' }).click()
    await page.getByText('waiting for its end').waitFor()
    await row(page, 'looked at meanwhile').click()
    await page.getByRole('region', { name: `Node ${other}` }).waitFor()
    await page.getByText('waiting for its end').waitFor({ state: 'detached' })
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${id}`)
    await page.getByText(`Node ${id}: killed`).waitFor()
  })

  test('a viewer sees the tree and may not act, in the page and on the server', async () => {
    const [id] = await nodes.add(sleeping(7000))
    const { page } = await dashboard.visit(`/nodes?node=${id}`, { role: 'viewer' })
    await page.getByRole('heading', { level: 2, name: 'for 7000 s' }).waitFor()
    for (const name of ['Add a tree', 'Add child', 'Edit', 'Kill']) {
      const button = page.getByRole('button', { name, exact: true })
      expect(await button.getAttribute('aria-disabled'), name).toBe('true')
      expect(await button.getAttribute('title'), name).toContain('needs the role')
    }
    await page.getByRole('button', { name: 'Kill' }).click({ force: true })
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    const refused = await page.evaluate(async (node) => {
      const asked = await fetch(`/v1/scheduler/kill?id=${node}`, { method: 'PUT' })
      return [asked.status, (await asked.json()).code]
    }, id)
    expect(refused).toEqual([403, 'forbidden'])
    expect(await nodes.states(id as string)).not.toContain('killed')
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${id}`)
  })
})

test('a node that is looked at is asked for at most once a second, however many others come', async () => {
  const [id] = await nodes.add(sleeping(7000))
  const { page } = await dashboard.visit(`/nodes?node=${id}`)
  await isLive(page)
  let asked = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === `/v1/nodes/${id}`) asked += 1
  })
  const begunAt = performance.now()
  for (let i = 0; i < 40; i += 1) await nodes.add(sleeping(i + 1000))
  await row(page, 'for 1039 s').waitFor()
  await expect.poll(() => asked).toBeGreaterThan(0)
  const seconds = (performance.now() - begunAt) / 1000
  expect(asked).toBeLessThanOrEqual(Math.ceil(seconds) + 1)
  await nodes.ask('PUT', `/v1/scheduler/kill?id=${id}`)
})

describe('large trees', () => {
  test('ten thousand children: few rows are drawn, pages come as one scrolls, and keys lead everywhere', async () => {
    const [top] = await nodes.add(sleeping(7000))
    const many = Array.from({ length: 10_000 }, (_, i) => below(String(top), command('echo', `child-${i}`)))
    await nodes.ask('POST', '/v1/nodes', { body: many })
    const { page, complaints } = await dashboard.visit(`/nodes?zoom=${top}`)
    await row(page, 'child-0').first().waitFor()
    // When the stream begins, what is shown is asked for again.
    await isLive(page)
    const grid = page.getByRole('treegrid', { name: 'Nodes' })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await grid.focus()
    const pages = async () => {
      await page.keyboard.press('End')
      return asked.filter((url) => url.includes('start=')).length
    }
    await expect.poll(pages).toBeGreaterThanOrEqual(4)
    expect(asked.length).toBeLessThan(12)
    expect(await rows(page).count()).toBeLessThan(80)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 2, name: 'echo child-0' }).waitFor()
    expect(complaints).toEqual([])
  }, 180_000)

  test('a chain of two thousand opens by one request, and zooming makes it short', async () => {
    const chain = await nodes.add(
      sleeping(7000),
      ...Array.from({ length: 2_000 }, (_, i) => below(`#${i}`, command('echo', `level-${i}`))),
    )
    const { page } = await dashboard.visit(`/nodes?zoom=${chain[0]}`)
    await row(page, 'level-0').waitFor()
    // When the stream begins, what is open is asked for again.
    await isLive(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByRole('treegrid', { name: 'Nodes' }).focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('*')
    await row(page, 'level-20').waitFor()
    await page.keyboard.press('End')
    await row(page, 'level-499').waitFor()
    expect(await rows(page).count()).toBeLessThan(80)
    expect(asked.filter((url) => url.includes('/v1/nodes')).length).toBeLessThan(4)
    await page.goto(`${dashboard.address}/nodes?node=${chain[1500]}&zoom=${chain[1500]}`)
    await page.getByRole('navigation', { name: 'Above this node' }).getByText('…').waitFor()
    await row(page, 'level-1499').waitFor()
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${chain[0]}`)
  })
})

test('the keyboard alone opens, closes and selects', async () => {
  const [top, child] = await nodes.add(shell('true # keyed'), below('#0', command('echo', 'keyed child')))
  await nodes.ended(top as string, child as string)
  const { page } = await dashboard.visit(`/nodes?zoom=${top}`)
  await row(page, 'keyed child').waitFor()
  const grid = page.getByRole('treegrid', { name: 'Nodes' })
  await grid.focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowLeft')
  await row(page, 'keyed child').waitFor({ state: 'detached' })
  await page.keyboard.press('ArrowRight')
  await row(page, 'keyed child').waitFor()
  await page.keyboard.press('e')
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`node=${child}`))
  await expect.poll(() => row(page, 'keyed child').getAttribute('aria-level')).toBe('2')
})

test('the filter stands in the address and shows what fits', async () => {
  const [failed] = await nodes.run(shell('exit 9 # filtered'))
  const { page } = await dashboard.visit('/nodes')
  await page.getByLabel('State').selectOption('failed')
  await page.waitForURL(/state=failed/)
  // All trees are there until the answer is, and what failed is among them.
  await expect.poll(() => row(page, 'keyed').count()).toBe(0)
  await row(page, 'exit 9').waitFor()
  expect(await row(page, 'keyed').count()).toBe(0)
  expect(failed.metadata.state).toBe('failed')
})

test('a phone shows the tree, and then the node, without scrolling sideways', async () => {
  const [id] = await nodes.add(shell(`echo ${'long-word-'.repeat(40)}`))
  await nodes.ended(id as string)
  const { page, complaints } = await dashboard.visit('/nodes', { width: 360, height: 740 })
  await row(page, 'long-word').waitFor()
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
  await expect.poll(fits).toBe(true)
  await row(page, 'long-word').click()
  await page.getByRole('group', { name: 'Output, Mixed' }).waitFor()
  await expect.poll(fits).toBe(true)
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await row(page, 'long-word').waitFor()
  expect(complaints).toEqual([])
})
