import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { inForm } from '../long-form.ts'
import { interleave } from './interleave.ts'
import { settings } from './settings.ts'

test('whatever transactions overlap, no wake-up is lost and nothing runs twice', async () => {
  await using db = await database()
  await interleave(db.databaseUrl, settings(inForm(200, 5000)))
  expect(db.errors).toEqual([])
}, 1_200_000)
