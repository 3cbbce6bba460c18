// What the dashboard shows of very large things. The tests of test/e2e do the same with smaller ones.
import { afterAll, beforeAll, test } from 'vitest'
import { aDashboard, type Dashboard } from '../e2e/kit.ts'
import { isInView } from '../e2e/log-kit.ts'
import { scrollThrough } from '../e2e/loom-kit.ts'
import { shell, speaking } from '../nodes.ts'
import { svnFiles } from '../repositories/svn.ts'

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await aDashboard({ poll_seconds: 3600 })
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

test('more than a million lines come in parts, and one goes on to another part from wherever one was', async () => {
  const nodes = speaking(() => dashboard.server)
  const [node] = (await nodes.add(shell('seq 1000300'))) as [string]
  await nodes.ended(node)
  const huge = (await nodes.get(node)).metadata.task
  const { page } = await dashboard.visit(`/tasks/${huge}/log#L1000200`)
  await isInView(page, 1_000_200)
  await page.getByRole('button', { name: 'Before' }).click()
  await page.getByText('Lines 1 to 1,000,000 of 1,000,300').waitFor()
  await isInView(page, 1_000_000)
  await page.getByRole('button', { name: 'After' }).click()
  await isInView(page, 1_000_001)
  await page.keyboard.press('End')
  await isInView(page, 1_000_300)
  await page.getByRole('button', { name: 'Before' }).click()
  await isInView(page, 1_000_000)
})

test('5,000 revisions are scrolled with each page asked for once and a bounded page', {
  timeout: 600_000,
}, async () => {
  await using ground = await svnFiles()
  await scrollThrough({ dashboard, ground }, 'Long', 5000)
})
