import { expect, test } from 'vitest'
import { connect } from '../../src/engine/index.ts'
import { database } from '../database.ts'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { loadHistory, svnFiles } from '../repositories/svn.ts'
import { scratch } from '../scratch.ts'

const READY = /^millrace listening on /
const TOKEN = 'the-token-of-the-crash-test'
const REVISIONS = inForm(120, 300)
const TASKS = 40 // so many that the backlog takes several transactions

test('a server killed in the middle of a backlog leaves every revision planned once', async () => {
  await using db = await database()
  await using folder = await scratch()
  await using ground = await svnFiles()
  const plain = await ground.create()
  const names = Array.from({ length: TASKS }, (_, i) => `task-${i}`)
  const workflow = names.map((name) => `- { name: ${name}, command: make, depends: PREV }`).join('\n')
  await loadHistory(plain.path, REVISIONS, { '_workflows/a.yaml': workflow })
  const start = () =>
    runProgram('src/bin.ts', {
      args: ['serve'],
      env: {
        MILLRACE_PORT: '0',
        MILLRACE_LOG_LEVEL: 'warn',
        MILLRACE_DATA: folder.path,
        MILLRACE_DATABASE_URL: db.databaseUrl,
        MILLRACE_ADMIN_TOKEN: TOKEN,
        // What is planned here is not to be performed.
        MILLRACE_QUEUES: 'nothing-of-this-server',
      },
    })
  const plannedOf = async () => {
    const { rows } = await db.pool.query<{ planned: number }>(
      'select planned_number::int as planned from millrace.archive',
    )
    return rows[0]?.planned ?? 0
  }
  await using first = start()
  await register(first, plain.options.url)
  const killedAt: number[] = []
  let running: Program = first
  for (let kills = 0; kills < 2; kills += 1) {
    const before = killedAt.at(-1) ?? 0
    const seen = await waitFor(async () => ((await plannedOf()) > before ? plannedOf() : undefined))
    running.child.kill('SIGKILL')
    await running.exitCode
    killedAt.push(seen)
    running = start()
  }
  await using last = running
  await waitFor(async () => ((await plannedOf()) === REVISIONS ? true : undefined))
  expect(killedAt[0]).toBeLessThan(REVISIONS)
  const { rows } = await db.pool.query(
    `select (select count(*)::int from millrace.revision) as revisions,
       (select count(*)::int from millrace.archive_task) as tasks,
       (select count(*)::int from millrace.task where scope = 'archive:backlog') as added,
       (select count(*)::int from millrace.outbox where name = 'revision.planned') > 2 as is_told`,
  )
  const count = REVISIONS * (TASKS + 1)
  expect(rows).toEqual([{ revisions: REVISIONS, tasks: count, added: count, is_told: true }])
  const millrace = await connect({ databaseUrl: db.databaseUrl })
  try {
    expect(await millrace.verify()).toEqual([])
  } finally {
    await millrace.close()
  }
  await last[Symbol.asyncDispose]()
})

async function register(program: Program, url: string): Promise<void> {
  const server = (await program.line(READY)).replace(READY, '')
  const answer = await fetch(`${server}/v1/archives/backlog`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source: { type: 'svn', url }, from: 1 }),
  })
  expect(answer.status, await answer.text()).toBe(201)
}
