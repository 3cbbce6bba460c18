// Archives do not keep each other waiting, and no command keeps the index waiting: measured by the database's own times.
import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitFiles, registered } from './archives.ts'
import { shell, sleeping, speaking } from './nodes.ts'
import { waitFor } from './processes.ts'
import { gitFiles } from './repositories/git.ts'
import type { Ground } from './repositories/ground.ts'
import { scratch } from './scratch.ts'
import { aServer, type TestServer } from './server.ts'

/** Fifty tasks that sleep; each leaves a file there when it has begun to. */
function fifty(begun: string): string {
  const command = JSON.stringify(['sh', '-c', `touch ${begun}/$$; exec sleep 30`])
  const tasks = Array.from({ length: 50 }, (_, i) => `  - { name: long-${i}, command: ${command} }\n`)
  return `on: { commit: { paths: [start] } }\ntasks:\n${tasks.join('')}`
}
const INDEX = '- { name: indexing, uses: index, depends: [PREV] }\n'
const SHORT = '- { name: short, command: ["true"] }\n'

let ground: Ground
beforeAll(async () => {
  ground = await gitFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

type Times = { readonly waited: number | null; readonly ended: number | null }

/** Seconds from the notice, or else from the attachment of the archive, until the task started and until it ended. */
async function timesOf({ database }: TestServer, scope: string, key: string): Promise<Times | undefined> {
  const { rows } = await database.pool.query<Times>(
    `select extract(epoch from coalesce(l.started_at, d.started_at) - told.at)::float8 as waited,
       extract(epoch from d.finished_at - told.at)::float8 as ended
     from millrace.task t left join millrace.live l on l.id = t.id left join millrace.done d on d.id = t.id
       cross join lateral (
         select coalesce(k.announced_at, a.created_at) as at
         from millrace.archive a join millrace.archive_look k on k.archive = a.id
         where 'archive:' || a.name = t.scope
       ) told
     where t.scope = $1 and t.key = $2`,
    [scope, key],
  )
  return rows[0]
}

/** How many tasks of the archive run. */
async function running({ database }: TestServer, archive: string): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(
    `select count(*)::int as n from millrace.live l
       join millrace.task t on t.id = l.id join millrace.dispatcher d on d.id = l.holder
     where t.scope = $1 and l.state = 'running' and d.dead_at is null`,
    [`archive:${archive}`],
  )
  return rows[0]?.n ?? 0
}

async function cancelAll(server: TestServer): Promise<void> {
  const { rows } = await server.database.pool.query<{ id: string }>('select id from millrace.live')
  await Promise.all(rows.map(({ id }) => server.ask('POST', `/v1/tasks/${id}/cancel`, { body: {} })))
  await waitFor(async () => {
    const { rows: left } = await server.database.pool.query('select from millrace.live limit 1')
    return left.length === 0 ? true : undefined
  })
}

const untilRunning = (server: TestServer, archive: string, count: number) =>
  waitFor(async () => ((await running(server, archive)) === count ? true : undefined))

/**
 * The fewest seconds of five tries: a busy machine may be slow once. What is blocked waits for a task that sleeps, and
 * fails at once.
 */
async function quickest(attempt: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 5 && best >= 1; tries += 1) {
    const seconds = await attempt()
    expect(seconds, 'blocked').toBeLessThan(10)
    best = Math.min(best, seconds)
  }
  return best
}

test('while 50 tasks of an archive sleep, its commit is indexed and another archive starts within a second each', async () => {
  const settings = { concurrency: 64, poll_seconds: 3600, grace_seconds: 1, drain_seconds: 0 }
  await using server = await aServer(settings)
  const { path: begun } = await scratch()
  const first = { '_workflows/long.yaml': fifty(begun), '_workflows/index.yaml': INDEX, start: 'now\n' }
  const busy = await registered(server, ground, { from: 1, first: [first] })
  const until = (key: string, at: 'waited' | 'ended', of = busy) =>
    waitFor(async () => (await timesOf(server, `archive:${of.name}`, key))?.[at] ?? undefined)
  let rev = 1
  const indexOne = (at: TestServer) =>
    quickest(async () => {
      rev += 1
      await commitFiles(busy.plain, { chapter: `${rev}\n` })
      await at.ask('POST', `/v1/archives/${busy.name}/commits`, { body: { rev } })
      return until(`${rev}:indexing`, 'ended')
    })
  const startOne = async () => {
    const other = await registered(server, ground, { from: 1, first: [{ '_workflows/a.yaml': SHORT }] })
    return until('1:short', 'waited', other)
  }
  await until('1:indexing', 'ended')
  await waitFor(async () => ((await readdir(begun)).length === 4 ? true : undefined))
  expect(await indexOne(server)).toBeLessThan(1)
  expect(await quickest(startOne)).toBeLessThan(1)
  expect(await running(server, busy.name)).toBe(4)
  // A server that starts with another limit lets in as many of what was added before.
  await server.stop()
  await using next = await aServer({ ...settings, on: server.database, concurrency: 6, archive_concurrency: 6 })
  await untilRunning(next, busy.name, 6)
  // All places of this one are taken: the index has its own.
  expect(await indexOne(next)).toBeLessThan(1)
  expect(await running(next, busy.name)).toBe(6)
  await cancelAll(next)
})

test('commands of nodes share a limit of their own, and what only waits has no place in it', async () => {
  await using server = await aServer({ node_concurrency: 2, grace_seconds: 1, drain_seconds: 0 })
  const nodes = speaking(() => server)
  const [first, second, third] = (await nodes.add(...Array(3).fill(shell('sleep 600')))) as [string, string, string]
  await nodes.reaches(first, 'running')
  await nodes.reaches(second, 'running')
  const [nap] = await nodes.run(sleeping(0))
  expect([nap.metadata.state, (await nodes.get(third)).metadata.state]).toEqual(['finished', 'incipient'])
  const { json } = await server.ask('GET', `/v1/tasks/${encodeURIComponent(`node/${third}`)}`)
  expect(json.why).toMatch(
    /^waits for a place of "nodes" \(2 at once\), held by node\/\d+ \(task \d+\), node\/\d+ \(task \d+\)$/,
  )
  await server.ask('PUT', `/v1/scheduler/kill?id=${first}`)
  await nodes.reaches(third, 'running')
  await cancelAll(server)
})
