import { expect, test } from 'vitest'
import { aServer } from '../../test/server.ts'
import { version } from '../cli/index.ts'

test('a server says which release it is, on which database, to whoever is known', async () => {
  await using server = await aServer({ audit_days: 30 })
  const { status, json } = await server.ask('GET', '/v1/about')
  expect(status).toBe(200)
  expect(json).toMatchObject({ version: version(), node: process.versions.node, audit_days: 30 })
  const { rows } = await server.database.pool.query('select max(version)::int as last from millrace.schema_version')
  expect(json.database.schema).toBe(rows[0].last)
  expect(json.database.version).toMatch(/^\d+/)
  expect(json.database.size_bytes).toBeGreaterThan(1_000_000)
  expect((await server.ask('GET', '/v1/about', { token: null })).status).toBe(401)
})
