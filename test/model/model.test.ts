import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { inForm } from '../long-form.ts'
import { compare } from './compare.ts'
import { settings } from './settings.ts'

test('after every step the engine is where the model is', async () => {
  await using db = await database()
  await compare(db.databaseUrl, settings(inForm(300, 5000)))
  expect(db.errors).toEqual([])
}, 1_200_000)
