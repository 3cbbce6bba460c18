import { expect, test } from 'vitest'
import { anApp, type TestApp } from '../../test/app.ts'
import type { Question } from '../../test/server.ts'

const statuses = async (app: TestApp, times: number, question: Question = {}, path = '/v1/me') => {
  const seen: number[] = []
  for (let i = 0; i < times; i += 1) seen.push((await app.ask('GET', path, question)).status)
  return seen
}
const count = (list: number[], status: number) => list.filter((one) => one === status).length

test('each token has its own measure, and is told what is left of it', async () => {
  await using app = await anApp({ rateLimit: 20 })
  const created = await app.ask('POST', '/v1/tokens', { body: { name: 'ci', role: 'viewer' } })
  const { secret } = created.json
  const first = await app.ask('GET', '/v1/me', { token: secret })
  expect(first.headers.get('ratelimit-limit')).toBe('20')
  expect(first.headers.get('ratelimit-remaining')).toBe('19')
  expect(await statuses(app, 21, { token: secret })).toEqual([...Array(19).fill(200), 429, 429])
  const refused = await app.ask('GET', '/v1/me', { token: secret })
  expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await app.ask('GET', '/v1/me')).status).toBe(200)
})

test('requests without a token share a smaller measure by address', async () => {
  await using app = await anApp({ rateLimit: 100 })
  const seen = await statuses(app, 12, { token: null }, '/v1/openapi.json')
  // The test's own look at the document was the first of ten.
  expect([count(seen, 200), count(seen, 429)]).toEqual([9, 3])
  expect((await statuses(app, 1, { token: null }, '/v1/nowhere'))[0]).toBe(429)
  expect((await app.ask('GET', '/v1/me')).status).toBe(200)
})

test('wrong tokens soon get no answer, while right ones that are known go on', async () => {
  await using app = await anApp({ rateLimit: 500 })
  const created = await app.ask('POST', '/v1/tokens', { body: { name: 'ci', role: 'viewer' } })
  const late = await app.ask('POST', '/v1/tokens', { body: { name: 'late', role: 'viewer' } })
  expect((await app.ask('GET', '/v1/me', { token: created.json.secret })).status).toBe(200)
  const seen = await statuses(app, 8, { token: `mr_${'x'.repeat(43)}` })
  expect(seen).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  // Not even the right one is looked at: a guess would be told apart by it.
  expect((await app.ask('GET', '/v1/me', { token: late.json.secret })).status).toBe(429)
  const guess = await app.ask('POST', '/v1/sign-in', { token: null, body: { secret: 'x' } })
  expect(guess.json).toMatchObject({ code: 'rate_limited' })
  // Behind a proxy everybody has one address.
  expect((await app.ask('GET', '/v1/me', { token: created.json.secret })).status).toBe(200)
})

test('wrong links are counted like wrong tokens', async () => {
  await using app = await anApp({ rateLimit: 300 })
  const seen: number[] = []
  for (let i = 0; i < 5; i += 1) {
    seen.push((await app.ask('POST', '/v1/sign-in', { token: null, body: { secret: `wrong${i}` } })).status)
  }
  expect(seen).toEqual([401, 401, 401, 429, 429])
})

test('probes and metrics are never refused', async () => {
  await using app = await anApp({ rateLimit: 10 })
  for (const path of ['/livez', '/readyz', '/metrics']) {
    for (let i = 0; i < 15; i += 1) expect((await fetch(app.url + path)).status).toBe(200)
  }
})

test('an address that a proxy names counts only when the proxy is trusted', async () => {
  for (const trustProxy of [undefined, 'loopback']) {
    await using app = await anApp({ rateLimit: 100, trustProxy })
    const seen: number[] = []
    for (let i = 0; i < 15; i += 1) {
      const headers = { 'x-forwarded-for': `192.0.2.${i}` }
      seen.push((await app.ask('GET', '/v1/openapi.json', { token: null, headers })).status)
    }
    expect(count(seen, 429)).toBe(trustProxy === undefined ? 6 : 0)
  }
})

test('without a limit nothing is counted', async () => {
  await using app = await anApp({ rateLimit: 0 })
  const reply = await app.ask('GET', '/v1/me')
  expect(reply.headers.get('ratelimit-limit')).toBeNull()
  expect(count(await statuses(app, 30, { token: 'wrong' }), 401)).toBe(30)
})
