// The door of every route that there is, and of every one to come: a route that is forgotten here cannot exist, for the list
// is that of the contract.
import { expect, test } from 'vitest'
import { type Route, roles, routes } from '../src/api/index.ts'
import { aServer, type TestServer } from './server.ts'

const all: Route[] = Object.values(routes).flatMap((resource) => Object.values(resource))
const limits = ['archive', 'node', 'task'] as const

/** A server with a token of every role and every limit. */
async function aServerWithTokens() {
  const server = await aServer()
  const { json } = await server.ask('GET', '/v1/openapi.json')
  const served = new Set(
    Object.values(json.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    ),
  )
  const secrets = new Map<string, string>()
  const create = async (name: string, grant: object) => {
    const created = await server.ask('POST', '/v1/tokens', { body: { name, ...grant } })
    secrets.set(name, created.json.secret)
  }
  for (const role of roles) await create(role, { role })
  for (const to of limits) await create(to, { limit: { to, name: '1' } })
  const guarded = all.filter(({ name, access }) => served.has(name) && access.role !== 'anyone')
  expect(guarded.length).toBeGreaterThan(10)
  return {
    served,
    guarded,
    ask: (route: Route, token: string | null) => ask(server, route, token),
    secretOf: (name: string) => secrets.get(name) ?? '',
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function ask(server: TestServer, route: Route, token: string | null) {
  // A door is passed before anything else is looked at: what would be asked for does not matter.
  const path = route.path.replace(/\{\w+\}/g, 'x')
  const response = await fetch(server.url + path, {
    method: route.method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })
  // A stream that is let in has no end of its own.
  if (response.ok) await response.body?.cancel()
  return { status: response.status, json: response.ok ? undefined : ((await response.json()) as { detail: string }) }
}

test('the server serves nothing that is not in the contract, and names are unique', async () => {
  await using server = await aServerWithTokens()
  const names = all.map(({ name }) => name)
  expect([...server.served].filter((name) => !names.includes(name))).toEqual([])
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})

test('without a token, or with a wrong one, no guarded route is entered', async () => {
  await using server = await aServerWithTokens()
  for (const route of server.guarded) {
    for (const token of [null, 'wrong', `mr_${'x'.repeat(43)}`, `mrt_e30.${'x'.repeat(43)}`]) {
      const { json } = await server.ask(route, token)
      expect(json, `${route.name} with ${token}`).toMatchObject({ status: 401, code: 'unauthorized' })
    }
  }
})

test('a role below the one that is needed is refused, and every other is let in', async () => {
  await using server = await aServerWithTokens()
  for (const route of server.guarded) {
    // Signing the token's own sessions out and revoking leave the tokens of this test alone: "x" is no id.
    for (const role of roles) {
      const { status, json } = await server.ask(route, server.secretOf(role))
      const mayEnter = roles.indexOf(role) >= roles.indexOf(route.access.role as typeof role)
      const where = `${route.name} as ${role}`
      if (mayEnter) expect([401, 403], where).not.toContain(status)
      else expect(json, where).toMatchObject({ status: 403, code: 'forbidden' })
    }
  }
})

test('a limited token enters only where its limit is named', async () => {
  await using server = await aServerWithTokens()
  for (const route of server.guarded) {
    for (const to of limits) {
      const { json } = await server.ask(route, server.secretOf(to))
      const where = `${route.name} limited to ${to}`
      if (route.access.limits?.includes(to)) expect(json?.detail ?? '', where).not.toContain('this needs the role')
      else expect(json, where).toMatchObject({ status: 403, code: 'forbidden' })
    }
  }
})

test('what anyone may call is little, and is meant so', () => {
  const open = all.filter(({ access }) => access.role === 'anyone').map(({ name }) => name)
  expect(open.toSorted()).toEqual(['about.openapi', 'session.sign_in'])
})
