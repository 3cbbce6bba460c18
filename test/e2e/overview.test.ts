import { expect, test } from 'vitest'
import { aDashboard } from './kit.ts'

test('the first run shows three ways to begin, with this server’s address, and ticks itself off', async () => {
  await using dashboard = await aDashboard()
  const { page, complaints } = await dashboard.visit()
  await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
  for (const way of ['Watch a demo', 'Connect a repository', 'Send a job from code']) {
    await page.getByRole('region', { name: way }).getByRole('button', { name: 'Copy command' }).waitFor()
  }
  await page.getByText(`millrace login --server ${dashboard.address}`).waitFor()
  await page.getByText(`curl -X POST ${dashboard.address}/v1/nodes`).waitFor()
  const steps = page.getByRole('list', { name: 'What the server has seen' })
  await steps.getByText('A worker is here').waitFor()
  await steps.getByText('To come: The first commit').waitFor()
  await dashboard.server.ask('PUT', '/v1/archives/Mill', { body: { source: { type: 'push' }, from: 1 } })
  const task = { name: 'grind', command: ['true'] }
  await dashboard.server.ask('POST', '/v1/archives/Mill/commits', { body: { rev: 1, tasks: [task] } })
  await steps.getByText('The first commit came to Mill').waitFor()
  await steps.getByText('The first task succeeded').waitFor()
  await page.getByRole('link', { name: 'Show the overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(complaints).toEqual([])
})

test('the first step names the token that somebody who has just started a server has', async () => {
  await using dashboard = await aDashboard()
  const { page } = await dashboard.visit()
  const step = page.getByRole('region', { name: 'Connect a repository' })
  expect(await step.locator('pre').textContent()).toMatch(
    /^npx millrace login --server \S+ \\\n {2}--token-file \.millrace\/admin-token\n/,
  )
  await step.getByText('admin-token', { exact: true }).waitFor()
})

test('the command for a job does what it says', async () => {
  await using dashboard = await aDashboard()
  const { page } = await dashboard.visit()
  const text = await page.getByRole('region', { name: 'Send a job from code' }).locator('pre').textContent()
  const body = JSON.parse(/-d '([\s\S]*)'$/.exec(text ?? '')?.[1] ?? '')
  const reply = await dashboard.server.ask('POST', '/v1/nodes', { body })
  expect(reply.status).toBe(201)
  await page.getByText('Done: The first task succeeded').waitFor()
})

test('what needs attention leads to it; new items wait for a click, and resolved ones stay until one', async () => {
  await using dashboard = await aDashboard()
  const first = await dashboard.graph.add({ payload: 'broken', scope: 'mill', key: 'first' })
  await dashboard.graph.perform()
  const { page, complaints } = await dashboard.visit()
  const list = page.getByRole('list', { name: 'What needs attention' })
  await list.getByRole('link', { name: /mill\/first failed: it is broken/ }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  const second = await dashboard.graph.add({ payload: 'broken', scope: 'mill', key: 'second' })
  await dashboard.graph.perform()
  const counts = page.getByRole('list', { name: 'Tasks by state' })
  await counts.getByRole('link', { name: '2 failed' }).waitFor()
  await page.getByRole('button', { name: '1 new: show' }).waitFor()
  expect(await list.getByRole('listitem').count()).toBe(1)
  await page.getByRole('button', { name: '1 new: show' }).click()
  await list.getByRole('link', { name: /mill\/second failed/ }).waitFor()
  for (const verb of ['retry', 'cancel']) await dashboard.server.ask('POST', `/v1/tasks/${second}/${verb}`)
  await list.getByText('resolved:').waitFor()
  expect(await list.getByRole('listitem').count()).toBe(2)
  await page.getByRole('button', { name: '1 resolved: clear' }).click()
  await list.getByRole('link', { name: /mill\/second failed/ }).waitFor({ state: 'detached' })
  await list.getByRole('link', { name: /mill\/first failed/ }).click()
  await page.waitForURL(`**/tasks/${first}`)
  expect(complaints).toEqual([])
})

test('the oldest that waits is named, and that nobody takes it', async () => {
  await using dashboard = await aDashboard()
  const id = await dashboard.graph.add({ scope: 'mill', key: 'waits' })
  const { page } = await dashboard.visit()
  const waiting = page.getByRole('region', { name: 'Oldest waiting' })
  await waiting.getByText('1 ready, no worker').waitFor()
  await waiting.getByRole('link', { name: 'mill/waits', exact: true }).click()
  await page.waitForURL(`**/tasks/${id}`)
})

test('charts are drawn when they are needed, say the same as a table, and lead to their time', async () => {
  await using dashboard = await aDashboard()
  for (const payload of ['fine', 'fine', 'broken']) await dashboard.graph.add({ payload })
  await dashboard.graph.perform()
  const { page, complaints } = await dashboard.visit()
  const ended = page.getByRole('region', { name: 'Ended' })
  await ended.getByRole('img', { name: 'In the last hour 2 succeeded, 1 failed, 0 were canceled or skipped' }).waitFor()
  await ended.getByText('2 succeeded').waitFor()
  await ended.getByText('As a table').click()
  const rows = ended.getByRole('table', { name: 'Ended' }).getByRole('row')
  const inAll = async () => {
    const cells = await rows.evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll('td')].slice(1).map((cell) => Number(cell.textContent))),
    )
    const numbers = cells.filter((row) => row.length > 0)
    return [0, 1, 2, 3].map((at) => numbers.reduce((sum, row) => sum + (row[at] ?? 0), 0))
  }
  // In one row, or in two when a minute has begun between them.
  await expect.poll(inAll).toEqual([2, 1, 0, 0])
  await ended.getByRole('link', { name: 'day' }).click()
  await page.waitForURL('**/?range=24h')
  await ended.getByRole('img', { name: /^In the last day 2 succeeded/ }).waitFor()
  // The last bucket is at the right edge.
  const drawing = ended.locator('.u-over')
  const width = (await drawing.boundingBox())?.width ?? 0
  await drawing.click({ position: { x: width - 3, y: 40 } })
  await page.waitForURL(/\/timeline\?from=.*&to=/)
  const { searchParams } = new URL(page.url())
  const length = Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')
  expect(length).toBe(30 * 60_000)
  expect(complaints).toEqual([])
})

test('charts are asked for by time and not by event', async () => {
  await using dashboard = await aDashboard()
  await dashboard.graph.add()
  const { page } = await dashboard.visit()
  await page.getByRole('region', { name: 'Ended' }).waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/v1/throughput')) asked += 1
  })
  const begunAt = performance.now()
  for (let i = 0; i < 40; i += 1) await dashboard.graph.add({ key: `more ${i}` })
  await page.getByRole('list', { name: 'Tasks by state' }).getByRole('link', { name: '41 ready' }).waitFor()
  // Every ten seconds.
  expect(asked).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - begunAt) / 10_000))
})
