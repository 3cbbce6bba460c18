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

test('of a new store no stretch of a table counts as summed up: its first tasks would be written into the sums one by one', async () => {
  await using db = await database()
  const [task, done] = ['task (id, scope)', 'done (id, epoch, state)']
  await db.pool.query(`insert into millrace.${task} values (1, 'default')`)
  await db.pool.query(`insert into millrace.${done} values (1, 1, 'succeeded')`)
  // Answers how many stretches it has summed up: none where the first was already.
  for (const index of ['task_search', 'done_finished']) {
    const { rows } = await db.pool.query('select brin_summarize_range($1, 0) as summed', [`millrace.${index}`])
    expect(rows, index).toEqual([{ summed: 1 }])
  }
})
