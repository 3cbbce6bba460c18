import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { inForm } from '../long-form.ts'
import { chaos } from './chaos.ts'

const seed = Number(process.env['MILLRACE_MODEL_SEED'] ?? randomInt(2 ** 31))

test.each([
  { title: 'every task ends once, in order, with its effects once', byHand: false },
  { title: 'people act on tasks meanwhile, and nothing is lost or done twice', byHand: true },
])(
  '$title',
  async ({ byHand }) => {
    await using db = await database()
    await expect(
      chaos(db.databaseUrl, { seed, graphs: inForm(30, 100), dispatchers: 6, byHand }).catch((error: Error) => {
        throw new Error(`MILLRACE_MODEL_SEED=${seed}: ${error.message}`, { cause: error })
      }),
    ).resolves.toBeUndefined()
  },
  600_000,
)
