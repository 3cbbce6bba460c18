import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { createToken } from './create-token.ts'
import type { Identity } from './identity.ts'
import { revokeToken } from './revoke-token.ts'
import { readSession, signOut } from './session.ts'
import { createSignInLink, signIn, signInUrl } from './sign-in-link.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
})
afterAll(() => db[Symbol.asyncDispose]())

const ADMIN: Identity = { name: 'admin', role: 'admin', limit: null, via: 'token' }
const open = (secret: string) => signIn(db.pool, { secret, action: 'session.sign_in', requestId: 'a-request' })

test('a link carries its secret after the #', async () => {
  const link = await createSignInLink(db.pool, { by: ADMIN })
  expect(signInUrl('http://127.0.0.1:7420', link)).toMatch(/^http:\/\/127\.0\.0\.1:7420\/sign-in#[\w-]{43}$/)
})

test('a link works once, however many come at the same time', async () => {
  const { secret } = await createSignInLink(db.pool, { by: ADMIN })
  const opened = await Promise.all(Array.from({ length: 8 }, () => open(secret)))
  expect(opened.filter(Boolean)).toHaveLength(1)
  expect(await open(secret)).toBeUndefined()
})

test('a wrong secret is refused and does not use the link up', async () => {
  const { secret } = await createSignInLink(db.pool, { by: ADMIN })
  expect(await open(`${secret}x`)).toBeUndefined()
  expect(await open(secret)).toBeDefined()
})

test('a link is refused after 15 minutes', async () => {
  const { secret, expiresAt } = await createSignInLink(db.pool, { by: ADMIN })
  expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(15 * 60_000 + 1000)
  await db.pool.query("update millrace.sign_in_link set expires_at = expires_at - interval '15 minutes'")
  expect(await open(secret)).toBeUndefined()
})

test('the database keeps no secret that would open a door', async () => {
  const { secret } = await createSignInLink(db.pool, { by: ADMIN })
  const { rows } = await db.pool.query('select hash, sign_in_link::text as row from millrace.sign_in_link')
  expect(rows.map(({ row }) => row).join()).not.toContain(secret)
  expect(rows.every(({ hash }) => hash.length === 32)).toBe(true)
})

test('a session is open for seven days, and no other secret opens it', async () => {
  const { secret } = await createSignInLink(db.pool, { by: ADMIN })
  const session = await open(secret)
  const mine = session?.secret ?? ''
  expect(await readSession(db.pool, mine)).toMatchObject({ name: 'admin', role: 'admin', via: 'session' })
  expect(await readSession(db.pool, `${mine}x`)).toBeUndefined()
  await db.pool.query("update millrace.session set expires_at = expires_at - interval '7 days'")
  expect(await readSession(db.pool, mine)).toBeUndefined()
})

test('a link hands out no more than its maker has', async () => {
  const viewer: Identity = { name: 'token:v', role: 'viewer', limit: null, via: 'token' }
  await expect(createSignInLink(db.pool, { by: viewer, role: 'operator' })).rejects.toMatchObject({ code: 'forbidden' })
  expect(await createSignInLink(db.pool, { by: viewer })).toMatchObject({ role: 'viewer' })
  expect(await createSignInLink(db.pool, { by: ADMIN, role: 'viewer' })).toMatchObject({ role: 'viewer' })
})

test('a revoked token takes with it the links and sessions that came from it', async () => {
  const { id } = await createToken(db.pool, {
    name: 'ci',
    role: 'operator',
    limit: null,
    expiresAt: null,
    actor: 'admin',
  })
  const by: Identity = { name: 'token:ci', role: 'operator', limit: null, via: 'token', token: id }
  const [used, unused] = await Promise.all([createSignInLink(db.pool, { by }), createSignInLink(db.pool, { by })])
  const session = await open(used.secret)
  const identity = await readSession(db.pool, session?.secret ?? '')
  const handedOn = await createSignInLink(db.pool, { by: identity as Identity, person: 'ada' })
  await revokeToken(db.pool, { id, actor: 'admin' })
  expect(await readSession(db.pool, session?.secret ?? '')).toBeUndefined()
  expect(await open(unused.secret)).toBeUndefined()
  expect(await open(handedOn.secret)).toBeUndefined()
})

test('what a session hands on ends no later than the session itself', async () => {
  const first = await open((await createSignInLink(db.pool, { by: ADMIN })).secret)
  await db.pool.query("update millrace.session set expires_at = expires_at - interval '6 days'")
  const identity = await readSession(db.pool, first?.secret ?? '')
  const second = await open((await createSignInLink(db.pool, { by: identity as Identity })).secret)
  expect(second?.expiresAt).toEqual(identity?.until)
})

test('signing out ends one session, all of the same name, or for the administrator all there are', async () => {
  const link = () => createSignInLink(db.pool, { by: ADMIN, person: 'ada' })
  const [one, two, other] = await Promise.all([
    open((await link()).secret),
    open((await link()).secret),
    open((await createSignInLink(db.pool, { by: ADMIN, person: 'bob' })).secret),
  ])
  const isOpen = async (session: typeof one) => (await readSession(db.pool, session?.secret ?? '')) !== undefined
  const by: Identity = { name: 'user:ada', role: 'viewer', limit: null, via: 'session' }
  await signOut(db.pool, { by, secret: one?.secret, everywhere: false, everybody: false })
  expect([await isOpen(one), await isOpen(two), await isOpen(other)]).toEqual([false, true, true])
  await signOut(db.pool, { by, secret: undefined, everywhere: true, everybody: false })
  expect([await isOpen(two), await isOpen(other)]).toEqual([false, true])
  const all = { secret: undefined, everywhere: false, everybody: true }
  await expect(signOut(db.pool, { by, ...all })).rejects.toMatchObject({ code: 'forbidden' })
  const unused = await link()
  await signOut(db.pool, { by: ADMIN, ...all })
  expect(await isOpen(other)).toBe(false)
  expect(await open(unused.secret)).toBeUndefined()
})

test('signing out everywhere ends links for the name, and links that it handed out', async () => {
  const by: Identity = { name: 'user:eve', role: 'viewer', limit: null, via: 'session' }
  const [own, handedOut, other] = await Promise.all([
    createSignInLink(db.pool, { by: ADMIN, person: 'eve' }),
    createSignInLink(db.pool, { by, person: 'guest' }),
    createSignInLink(db.pool, { by: ADMIN, person: 'mallory' }),
  ])
  await signOut(db.pool, { by, secret: undefined, everywhere: true, everybody: false })
  expect(await open(own.secret)).toBeUndefined()
  expect(await open(handedOut.secret)).toBeUndefined()
  expect(await open(other.secret)).toBeDefined()
})
