import fc from 'fast-check'
import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { add } from './commands.ts'
import { Engine } from './engine.ts'
import { Interleaving, moves } from './interleave.ts'
import { sessions } from './session.ts'
import { settings } from './settings.ts'

test('whatever transactions overlap, no wake-up is lost and nothing runs twice', async () => {
  await using db = await database()
  const engine = await new Engine(db.databaseUrl, 1).prepare()
  const all = await sessions(db.databaseUrl, 7)
  const [monitor, ...others] = all as [(typeof all)[number], ...typeof all]
  try {
    await fc.assert(
      fc.asyncProperty(add, moves, async (first, list) => {
        try {
          await new Interleaving(engine, others, monitor.client).run(first, list)
        } finally {
          for (const session of others) await session.abandon(monitor.client)
        }
      }),
      settings(300),
    )
  } finally {
    for (const session of all) await session.close()
    await engine.close()
  }
  expect(db.errors).toEqual([])
}, 600_000)
