import { expect, onTestFinished, test } from 'vitest'
import { planned, useArchiveServer } from '../../test/archives.ts'
import type { Db } from '../db/index.ts'
import { connect } from '../engine/index.ts'
import { ArchiveHistory } from './history.ts'

const FILES = [
  {
    path: '_workflows/a.yaml',
    text: `
- { name: a, command: make, depends: PREV }
- { name: b, command: make, depends: a, cancels: PREV }
`,
  },
]

const server = useArchiveServer()
let made = 0

/** An archive with two revisions, of which nothing is performed. */
async function twoRevisions() {
  made += 1
  const name = `A${made}`
  const millrace = await connect({ databaseUrl: server.database.databaseUrl })
  onTestFinished(() => millrace.close())
  await server.ask('PUT', `/v1/archives/${name}`, { body: { source: { type: 'push' } } })
  for (const rev of [1, 2]) await server.ask('POST', `/v1/archives/${name}/commits`, { body: { rev, files: FILES } })
  await planned(server, name, 2)
  const { pool } = server.database
  const { rows } = await pool.query<{ archive: string; task: string }>(
    `select t.archive, t.task from millrace.archive_task t join millrace.archive a on a.id = t.archive
     where a.name = $1 and t.number = 2 and t.name = 'b'`,
    [name],
  )
  const [{ archive: id, task }] = rows as [{ archive: string; task: string }]
  const asked = {
    id,
    archive: name,
    upTo: 2,
    names: { previous: [], unfinished: ['b'], exclusive: false },
    chained: new Set(['b']),
  }
  return { pool, asked, name, cancel: () => millrace.cancel(task) }
}

test('the nearest unfinished task stands for those before it', async () => {
  const { pool, asked, name } = await twoRevisions()
  const history = await ArchiveHistory.read(pool, asked)
  expect(history.before(3).unfinishedOf('b')).toEqual([`${name}@2:b`])
})

test('when the nearest one ends while it is read, those before it are found', async () => {
  const { pool, asked, name, cancel } = await twoRevisions()
  let isCanceled = false
  const meanwhile: Db = {
    async query(...given: Parameters<Db['query']>) {
      const answer = await pool.query(...given)
      const [{ text }] = given
      if (!isCanceled && text.includes('order by t.number desc') && text.includes('is_chained')) {
        isCanceled = true
        await cancel()
      }
      return answer
    },
  } as Db
  const history = await ArchiveHistory.read(meanwhile, asked)
  expect(isCanceled).toBe(true)
  expect(history.before(3).unfinishedOf('b')).toEqual([`${name}@1:b`])
})
