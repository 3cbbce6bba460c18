import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../processes.ts'
import { aPushArchive, type PushArchive } from '../push-archive.ts'
import { aDashboard, type Dashboard } from './kit.ts'

let dashboard: Dashboard
let archive: PushArchive
let id: string

const NIGHTLY = `on: { schedule: { cron: "0 3 * * mon-fri", timezone: America/New_York } }
tasks: [{ name: nightly, command: "true" }]
`

beforeAll(async () => {
  dashboard = await aDashboard()
  archive = await aPushArchive(dashboard.server)
  await archive.commit({ 'nightly.yaml': NIGHTLY })
  const { items } = await waitFor(async () => {
    const { json } = await dashboard.server.ask('GET', '/v1/schedules')
    return json.items.length > 0 ? json : undefined
  })
  id = items[0].id
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

const ask = async () => (await dashboard.server.ask('GET', `/v1/schedules/${id}`)).json

test('a schedule is shown in words, with its next five times in its zone and in mine', async () => {
  const { page, complaints } = await dashboard.visit('/schedules')
  await page.getByRole('link', { name: 'At 03:00, Monday through Friday' }).click()
  await page.waitForURL(new RegExp(`schedule=${id}`))
  const times = page.getByRole('table', { name: 'The next five times' })
  await times.getByText('Next in America/New_York').waitFor()
  const cells = await times.getByRole('row').nth(1).getByRole('cell').allTextContents()
  expect(await times.getByRole('row').count()).toBe(6)
  expect(cells[0]).toContain('03:00')
  const [first] = (await ask()).next
  const mine = await page.evaluate(
    (at) =>
      new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(
        Date.parse(at),
      ),
    first,
  )
  expect(cells[1]).toContain(mine)
  expect(complaints).toEqual([])
})

test('it runs now, and the run is linked to', async () => {
  const { page } = await dashboard.visit(`/schedules?schedule=${id}`)
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByText('runs at revision 1: 1 tasks').waitFor()
  await page.getByRole('img', { name: 'The last 1: ran' }).waitFor()
  await page.getByRole('link', { name: /^run \d+ at revision 1$/ }).click()
  await page.waitForURL(/\/archives\/.*\/r\/1$/)
  expect((await ask()).ticks).toMatchObject([{ outcome: 'planned', rev: 1 }])
})

test('it is paused and resumed', async () => {
  const { page } = await dashboard.visit(`/schedules?schedule=${id}`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('It is paused: no time comes.').waitFor()
  expect((await ask()).state).toBe('paused')
  await page.getByRole('table', { name: 'Schedules' }).getByText('paused').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('table', { name: 'The next five times' }).waitFor()
  expect((await ask()).state).toBe('active')
})

test('a viewer may not act, in the page and on the server; a phone does not scroll sideways', async () => {
  const { page } = await dashboard.visit(`/schedules?schedule=${id}`, { role: 'viewer', width: 360, height: 740 })
  const run = page.getByRole('button', { name: 'Run now' })
  await run.waitFor()
  expect(await run.getAttribute('title')).toContain('needs the role operator')
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  const status = await page.evaluate(
    async (schedule) => (await fetch(`/v1/schedules/${schedule}/pause`, { method: 'POST' })).status,
    id,
  )
  expect(status).toBe(403)
  expect((await ask()).state).toBe('active')
})
