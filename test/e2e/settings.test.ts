import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aPushArchive } from '../push-archive.ts'
import { aReceiver } from '../receiver.ts'
import { signatureOf } from '../webhooks.ts'
import { aDashboard, type Dashboard, linesOf } from './kit.ts'

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await aDashboard({ outbound_allow: '127.0.0.0/8' })
})

afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
})

const ask: Dashboard['server']['ask'] = (...question) => dashboard.server.ask(...question)

describe('tokens', () => {
  test('one is made, shown once, works over HTTP, is revoked, and is refused', async () => {
    const { page, complaints } = await dashboard.visit('/settings/tokens')
    await page.getByRole('button', { name: 'Make a token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('build server')
    await dialog.getByLabel('May').selectOption('submitter')
    await dialog.getByRole('button', { name: 'Make the token' }).click()
    const shown = page.getByRole('region', { name: 'The secret of build server' })
    const token = (await shown.getByRole('group').textContent()) ?? ''
    await shown.getByRole('button', { name: 'Copy' }).waitFor()
    expect((await ask('GET', '/v1/me', { token })).json).toMatchObject({
      name: 'token:build server',
      role: 'submitter',
    })
    await shown.getByRole('button', { name: 'I have it' }).click()
    await page.reload()
    const table = page.getByRole('table', { name: 'Tokens' })
    await table.getByText('build server').waitFor()
    expect(await page.content()).not.toContain(token)

    await page.getByRole('button', { name: 'Revoke build server' }).click()
    const question = page.getByRole('alertdialog')
    await question.getByText('build server (submitter)').waitFor()
    expect((await ask('GET', '/v1/me', { token })).status).toBe(200)
    await question.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('link', { name: /^Show \d+ that are over$/ }).click()
    await table.getByText('revoked by').waitFor()
    expect((await ask('GET', '/v1/me', { token })).status).toBe(401)
    expect(complaints).toEqual([])
  })

  test('a flaw is said in the form, which keeps what was filled in', async () => {
    const { page } = await dashboard.visit('/settings/tokens')
    await page.getByRole('button', { name: 'Make a token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('what?!')
    await dialog.getByRole('button', { name: 'Make the token' }).click()
    await dialog.getByRole('alert').getByText('must be letters').waitFor()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('what?!')
  })

  test('a link signs another browser in with the role that was chosen', async () => {
    const { page } = await dashboard.visit('/settings/tokens')
    await page.getByRole('button', { name: 'Make a link' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByLabel('For whom').fill('guest')
    await dialog.getByRole('button', { name: 'Make the link' }).click()
    const link = await page.getByRole('region', { name: 'Link for a viewer' }).getByRole('group').textContent()
    const other = await dashboard.stranger()
    await other.page.goto(link ?? '')
    await other.page.getByRole('button', { name: 'Account: guest, viewer' }).waitFor()
  })

  test('who is no administrator is told why, and the server refuses as well', async () => {
    const { page } = await dashboard.visit('/settings/tokens', { role: 'operator' })
    const make = page.getByRole('button', { name: 'Make a token' })
    expect(await make.getAttribute('title')).toContain('needs the role admin; yours is operator')
    await page.getByRole('alert').getByText('this needs the role admin').waitFor()
    const status = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ name: 'mine', role: 'admin' })
      return (await fetch('/v1/tokens', { method: 'POST', headers, body })).status
    })
    expect(status).toBe(403)
  })
})

describe('webhooks', () => {
  test('one is added, a test reaches its receiver with the signature of the secret that was shown', async () => {
    const receiver = await aReceiver()
    const { page, complaints } = await dashboard.visit('/settings/webhooks')
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Receiver').fill(receiver.url)
    await dialog.getByLabel('What it is for').fill('the chat')
    await dialog.getByLabel('Names of events').fill('failed')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const shown = page.getByRole('region', { name: /^The secret that signs for/ })
    const secret = (await shown.getByRole('group').textContent()) ?? ''
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('The test message was taken: answered 204').waitFor()
    const [first] = await receiver.count(1)
    expect(JSON.parse(first?.body ?? '').type).toBe('webhook.test')
    if (first !== undefined) expect(String(first.headers['webhook-signature'])).toContain(signatureOf(first, secret))
    const sent = page.getByRole('group').filter({ hasText: 'webhook.test' })
    await sent.getByText('taken').waitFor()

    await sent.locator('summary').click()
    await sent.getByRole('button', { name: 'Send again' }).click()
    const [, again] = await receiver.count(2)
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])

    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Make it' }).click()
    await expect.poll(() => shown.getByRole('group').textContent()).not.toBe(secret)
    expect(complaints).toEqual([])
  })

  test('a failure is shown with what the receiver said, and the webhook can be disabled and removed', async () => {
    const receiver = await aReceiver((response) => response.writeHead(500).end('the disk is full'))
    const made = await ask('POST', '/v1/webhooks', { body: { url: receiver.url, names: ['nothing.like.it'] } })
    const { page } = await dashboard.visit(`/settings/webhooks?webhook=${made.json.id}`)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/The test message was not taken/).waitFor()
    const sent = page.getByRole('group').filter({ hasText: 'webhook.test' })
    await sent.locator('summary').click()
    await sent.getByText('the disk is full').waitFor()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    expect((await ask('GET', `/v1/webhooks/${made.json.id}`)).json.enabled).toBe(false)
    await page.getByRole('button', { name: 'Remove' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText(receiver.url).waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('link', { name: receiver.url }).waitFor({ state: 'detached' })
    expect((await ask('GET', `/v1/webhooks/${made.json.id}`)).status).toBe(404)
  })
})

test('a secret is set for one archive, never shown, and removed', async () => {
  const { name } = await aPushArchive(dashboard.server)
  const { page } = await dashboard.visit('/settings/secrets')
  await page.getByRole('button', { name: 'Set a secret' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('SIGNING_KEY')
  await dialog.getByLabel('Of').selectOption(name)
  await dialog.getByLabel('Value').fill('sesame-open')
  await dialog.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByRole('table', { name: 'Secrets' }).getByText('SIGNING_KEY').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain('sesame-open')
  const list = async () => (await ask('GET', `/v1/archives/${encodeURIComponent(name)}/secrets`)).json.items
  expect(await list()).toMatchObject([{ name: 'SIGNING_KEY', archive: name }])
  await page.getByRole('button', { name: 'Remove SIGNING_KEY' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText(`SIGNING_KEY of ${name}`).waitFor()
  await question.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('There are no secrets').waitFor()
  expect(await list()).toEqual([])
})

test('the commands for hooks name the archive and this server', async () => {
  const { name } = await aPushArchive(dashboard.server)
  const { page } = await dashboard.visit('/settings/hooks')
  await page.getByLabel('Archive').selectOption(name)
  await page.getByLabel('Where the repository lies on its host').fill('/srv/it’s here')
  await expect
    .poll(() => page.getByRole('group', { name: 'install the hook' }).textContent())
    .toBe(`millrace hook install --svn '/srv/it’s here' --archive '${name}' --server ${dashboard.address}`)
})

test('density is kept by the browser', async () => {
  const { page } = await dashboard.visit('/settings/appearance')
  await page.getByRole('button', { name: 'Compact' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Compact', pressed: true }).waitFor()
  await expect.poll(() => page.locator('html').getAttribute('data-density')).toBe('compact')
})

test('about says which release and which database', async () => {
  const { page } = await dashboard.visit('/settings/about', { role: 'viewer' })
  const { json } = await ask('GET', '/v1/about')
  await page.getByText(json.database.version, { exact: true }).waitFor()
  await page.getByText(`migration ${json.database.schema}`).waitFor()
})

test('the settings begin with a part that is marked, and a phone shows the tab of the part that is open', async () => {
  const { page } = await dashboard.visit('/settings', { width: 360, height: 740 })
  const tabs = page.getByRole('navigation', { name: 'Settings' })
  await tabs.locator('[aria-current="page"]').getByText('Appearance').waitFor()
  await page.getByText('turns them off; Ctrl+K still works').waitFor()
  await page.goto(`${dashboard.address}/settings/hooks`)
  const hooks = tabs.getByRole('link', { name: 'Hooks', exact: true })
  await hooks.waitFor()
  const isInSight = async () => {
    const [row, tab] = [await tabs.boundingBox(), await hooks.boundingBox()]
    return row !== null && tab !== null && tab.x >= row.x - 1 && tab.x + tab.width <= row.x + row.width + 1
  }
  await expect.poll(isInSight).toBe(true)
})

test('on a phone a secret says whose it is in words that are not broken', async () => {
  await ask('PUT', '/v1/secrets/SIGNING_KEY', { body: { value: 'sesame-open' } })
  const { page } = await dashboard.visit('/settings/secrets', { width: 360, height: 740 })
  const row = page.getByRole('table', { name: 'Secrets' }).getByRole('row', { name: /SIGNING_KEY/ })
  await row.getByText('of every archive').waitFor()
  await expect.poll(() => linesOf(row.getByText('SIGNING_KEY', { exact: true }))).toBe(1)
  await expect.poll(() => linesOf(row.getByText('of every archive'))).toBeLessThan(4)
  await ask('DELETE', '/v1/secrets/SIGNING_KEY')
})

test('every part fits a phone and the browser complains of nothing', async () => {
  await ask('POST', '/v1/webhooks', { body: { url: `http://127.0.0.1:9/${'long/'.repeat(60)}` } })
  const { page, complaints } = await dashboard.visit('/settings', { width: 360, height: 740 })
  for (const part of ['appearance', 'tokens', 'webhooks', 'secrets', 'hooks', 'about']) {
    await page.goto(`${dashboard.address}/settings/${part}`)
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    await expect.poll(() => page.getByRole('status').getByText('Loading').count()).toBe(0)
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
    expect(fits, part).toBe(true)
  }
  expect(complaints).toEqual([])
})
