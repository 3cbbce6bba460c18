import { expect, onTestFinished, test } from 'vitest'
import { archiveServer, planned } from '../../test/archives.ts'
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

/** An archive with two revisions, of which nothing is performed. */
async function twoRevisions() {
  const server = await archiveServer()
  const millrace = await connect({ databaseUrl: server.database.databaseUrl })
  onTestFinished(() => millrace.close())
  await server.ask('PUT', '/v1/archives/A', { body: { source: { type: 'push' } } })
  for (const rev of [1, 2]) await server.ask('POST', '/v1/archives/A/commits', { body: { rev, files: FILES } })
  await planned(server, 'A', 2)
  const { pool } = server.database
  const { rows } = await pool.query<{ archive: string; task: string }>(
    `select archive, task from millrace.archive_task where number = 2 and name = 'b'`,
  )
  const [{ archive: id, task }] = rows as [{ archive: string; task: string }]
  const asked = {
    id,
    archive: 'A',
    upTo: 2,
    names: { previous: [], unfinished: ['b'], exclusive: false },
    chained: new Set(['b']),
  }
  return { pool, asked, cancel: () => millrace.cancel(task) }
}

test('the nearest unfinished task stands for those before it', async () => {
  const { pool, asked } = await twoRevisions()
  const history = await ArchiveHistory.read(pool, asked)
  expect(history.before(3).unfinishedOf('b')).toEqual(['A@2:b'])
})

test('when the nearest one ends while it is read, those before it are found', async () => {
  const { pool, asked, cancel } = await twoRevisions()
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
  expect(history.before(3).unfinishedOf('b')).toEqual(['A@1:b'])
})
