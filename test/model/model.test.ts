import fc from 'fast-check'
import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { commands } from './commands.ts'
import { Comparison } from './compare.ts'
import { Engine } from './engine.ts'
import { settings } from './settings.ts'

test('after every step the engine is where the model is', async () => {
  await using db = await database()
  const engine = await new Engine(db.databaseUrl).prepare()
  try {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        await new Comparison(engine).run(list)
      }),
      settings(1000),
    )
  } finally {
    await engine.close()
  }
  expect(db.errors).toEqual([])
}, 600_000)
