import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { database } from '../../test/database.ts'
import { createTaskTokens, type Holder, signingKey } from './task-token.ts'

const HOUR = 3_600_000
const key = randomBytes(32)
const holder: Holder = { limit: { to: 'task', name: '42' }, attempt: '3' }
const request = { ...holder, ttlSeconds: 3600 }
const always = createTaskTokens(key, async () => true)

test('a token says whom it was given to, and nothing else may be done with it', async () => {
  const identity = await always.verify(always.issue(request))
  expect(identity).toEqual({ name: 'task:42', role: null, limit: { to: 'task', name: '42' }, via: 'token' })
})

test('a token is refused once its attempt has ended', async () => {
  const asked: Holder[] = []
  let isRunning = true
  const tokens = createTaskTokens(key, async (of) => {
    asked.push(of)
    return isRunning
  })
  const token = tokens.issue(request)
  expect(await tokens.verify(token)).toBeDefined()
  isRunning = false
  expect(await tokens.verify(token)).toBeUndefined()
  expect(asked).toEqual([holder, holder])
})

test('a token is refused when its time is over, whoever runs', async () => {
  const token = always.issue(request, 0)
  expect(await always.verify(token, HOUR - 1)).toBeDefined()
  expect(await always.verify(token, HOUR)).toBeUndefined()
})

test('a token that was altered in any character is refused', async () => {
  const token = always.issue(request)
  for (let i = 0; i < token.length; i += 1) {
    const altered = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1)
    expect(await always.verify(altered), altered).toBeUndefined()
  }
  for (const junk of ['', 'mrt_', 'mrt_.', `mrt_${'a'.repeat(5000)}.${'a'.repeat(43)}`, `mrt_e30.${'A'.repeat(43)}`]) {
    expect(await always.verify(junk)).toBeUndefined()
  }
})

test('a token of another database is refused', async () => {
  const elsewhere = createTaskTokens(randomBytes(32), async () => true)
  expect(await always.verify(elsewhere.issue(request))).toBeUndefined()
})

test('servers that start at once on one database agree on the key, and keep it', async () => {
  await using db = await database()
  const keys = await Promise.all(Array.from({ length: 8 }, () => signingKey(db.pool)))
  const [first] = keys as [Buffer]
  expect(first).toHaveLength(32)
  expect([...keys, await signingKey(db.pool)].every((one) => one.equals(first))).toBe(true)
})
