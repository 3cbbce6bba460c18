import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dumpSchema } from '../scripts/schema.ts'
import { database } from './database.ts'

// The check compares on the embedded server; this compares on whichever server the tests run on.
test('the migrations make the committed schema on every supported PostgreSQL', async () => {
  await using db = await database()
  const committed = readFileSync(new URL('../migrations/schema.sql', import.meta.url), 'utf8')
  expect(await dumpSchema(db.pool)).toBe(committed)
})
