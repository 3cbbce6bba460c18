import { afterAll, beforeAll, expect, test } from 'vitest'
import { announce, commitFiles, DOCUMENT, performing, planned, untilState } from '../archives.ts'
import { waitFor } from '../processes.ts'
import { git, gitFiles } from '../repositories/git.ts'
import type { Ground } from '../repositories/ground.ts'
import { svnFiles } from '../repositories/svn.ts'
import { aDashboard, type Dashboard } from './kit.ts'

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

test('without an archive the screen teaches with the exact command, and the first one shows up by itself', async () => {
  const { server } = dashboard
  const { page, complaints } = await dashboard.visit('/archives')
  await page.getByText('No repository is watched').waitFor()
  await page.getByText('millrace archive add My-Project --svn').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await server.ask('PUT', '/v1/archives/First', { body: { source: { type: 'push' }, from: 1 } })
  await server.ask('POST', '/v1/archives/First/commits', {
    body: { rev: 1, tasks: [{ name: 'one', command: 'true' }] },
  })
  await page.getByRole('link', { name: 'First', exact: true }).waitFor()
  expect(complaints).toEqual([])
})

test('a row tells how far each task has got, what fails and what is missing, and changes by itself', async () => {
  const { server } = dashboard
  const work = await performing(server.database)
  work.failing.add('2:indexing')
  work.block('3:build-PDF')
  const plain = await ground.create()
  for (let rev = 1; rev <= 3; rev += 1)
    await commitFiles(
      plain,
      rev === 1 ? { '_workflows/a.yaml': DOCUMENT } : { 'a.txt': String(rev) },
      `change ${rev}`,
      'ada',
    )
  await server.ask('PUT', '/v1/archives/Book', { body: { source: plain.options, from: 1 } })
  await untilState(server, 'Book@3:build-PDF', 'running')
  const { page, complaints } = await dashboard.visit('/')
  // What the page before still asks for is not counted.
  await page.goto('about:blank')
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/v1/archives')) asked.push(pathname)
  })
  await page.goto(`${dashboard.address}/archives`)
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Book', exact: true }) })
  await row.getByRole('img', { name: /the last 3 revisions: 1 running, 1 failed, 1 succeeded/ }).waitFor()
  await row.getByRole('link', { name: /indexing.*succeeded at r3/ }).waitFor()
  await row.getByRole('link', { name: /build-PDF.*−/ }).waitFor()
  await row.getByRole('link', { name: 'r3', exact: true }).waitFor()
  // The list, once more when the stream begins, and once when that tells of something that had just happened. One for each
  // archive would be four.
  expect(asked.length).toBeLessThanOrEqual(3)
  await page.getByRole('button', { name: /^live/ }).waitFor()
  work.failing.add('4:indexing')
  await commitFiles(plain, { 'a.txt': '4' }, 'change 4', 'ada')
  await announce(server, 'Book', 4)
  await row.getByRole('link', { name: /indexing.*failed at r4/ }).waitFor()
  await row.getByRole('link', { name: /indexing.*failed at r4/ }).click()
  await page.waitForURL('**/archives/Book?at=r4&task=indexing')
  await page.getByRole('complementary', { name: 'The focused cell' }).locator('.state', { hasText: 'failed' }).waitFor()
  expect(complaints).toEqual([])
})

test('held archives and gaps are told with their reason; names of any script fit a phone', async () => {
  const { server } = dashboard
  const name = 'ארכיון Größe 2.1'
  const path = `/v1/archives/${encodeURIComponent(name)}`
  await server.ask('PUT', path, { body: { source: { type: 'push' }, from: 1 } })
  const tasks = [{ name: 'check', command: 'true' }]
  for (const rev of [1, 3]) await server.ask('POST', `${path}/commits`, { body: { rev, tasks } })
  await planned(server, name, 1)
  const { page, complaints } = await dashboard.visit('/archives', { width: 360, height: 740, role: 'viewer' })
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) })
  await row.getByText('r2 was not announced: what came after, up to r3, waits for it.').waitFor()
  await page.getByRole('button', { name: /^live/ }).waitFor()
  await server.ask('POST', `${path}/hold`)
  await row.locator('.state', { hasText: 'held' }).waitFor()
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wide).toBeLessThanOrEqual(narrow ?? 0)
  expect(complaints).toEqual([])
})

test('a history that was rewritten is told as broken, with what to do, and accepted from its loom', async () => {
  const { server } = dashboard
  await using branches = await gitFiles()
  const plain = await branches.create()
  for (const text of ['1', '2', '3']) await commitFiles(plain, { 'a.txt': text })
  const { credentials: _, ...source } = plain.options
  await server.ask('PUT', '/v1/archives/Moved', { body: { source, from: 1 } })
  await planned(server, 'Moved', 3)
  await git(plain.path, 'update-ref', 'refs/heads/main', 'refs/heads/main~1')
  await commitFiles(plain, { 'a.txt': null }, 'another third')
  await commitFiles(plain, { 'b.txt': 'x' }, 'a fourth')
  await announce(server, 'Moved', (await git(plain.path, 'rev-parse', 'main')).trim())
  const problem = await waitFor(async () => (await server.ask('GET', '/v1/archives/Moved')).json.problem ?? undefined)
  const { page } = await dashboard.visit('/archives')
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Moved', exact: true }) })
  await row.locator('.state', { hasText: 'broken' }).waitFor()
  await row.getByText(String(problem.message)).waitFor()
  await row.getByText(String(problem.remedy)).waitFor()
  await row.getByRole('link', { name: 'Moved', exact: true }).click()
  await page.getByRole('status').getByText(String(problem.message)).waitFor()
  await page.getByRole('button', { name: 'Accept the new history' }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByText('Moved', { exact: true }).waitFor()
  await asked.getByRole('button', { name: 'Accept the new history' }).click()
  await page.getByRole('gridcell', { name: /^revision 5, COMMIT/ }).waitFor()
})
