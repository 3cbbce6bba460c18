// The storm: many people commit at once, hooks come late, in any order or not at all, and what serves and performs dies
// again and again. Whatever happens, every revision is worked on once, and in order.
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { begin } from '../command-line.ts'
import { database, type TestDatabase } from '../database.ts'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { type Plain, say } from '../repositories/ground.ts'
import { write } from '../repositories/kit.ts'
import { freePort, svnServe, writeHook } from '../repositories/svn.ts'
import { scratch } from '../scratch.ts'
import { ADMIN, asker } from '../server.ts'

const CLIENTS = inForm(4, 8)
const COMMITS = inForm(8, 50)
const LAST = 1 + CLIENTS * COMMITS
const KILLS = inForm(3, 10)
const BETWEEN_DEATHS = inForm(10, 20) // tasks that are done before the next one is killed
const LOST = 7 // every seventh hook is killed before it says anything

/** `counting` has only the revisions of two of the people; the others are in every revision. */
const workflows = (told: string) => {
  const task = (name: string, depends: string) =>
    `- { name: ${name}, depends: ${depends}, script: 'echo "$MILLRACE_TASK $MILLRACE_REVISION" >> ${told}' }`
  return {
    '_workflows/all.yaml': `${task('indexing', 'PREV')}\n${task('checking', '[indexing, PREV]')}\n`,
    '_workflows/some.yaml': `on: { commit: { paths: ["of-1", "of-2"] } }\ntasks:\n${task('counting', 'PREV')}\n`,
  }
}

type Kind = 'serve' | 'worker'
type Part = { readonly kind: Kind; readonly data: string; readonly port: number; program: Program }

async function start(db: TestDatabase, part: Omit<Part, 'program'>): Promise<Program> {
  const program = runProgram('src/bin.ts', {
    args: [part.kind],
    env: {
      MILLRACE_PORT: String(part.port),
      MILLRACE_LOG_LEVEL: 'fatal',
      MILLRACE_DATA: part.data,
      MILLRACE_DATABASE_URL: db.databaseUrl,
      MILLRACE_ADMIN_TOKEN: ADMIN,
      MILLRACE_CONCURRENCY: '2',
      MILLRACE_POLL_SECONDS: '3',
      MILLRACE_RATE_LIMIT: '0',
      MILLRACE_URL: `http://127.0.0.1:${part.port}`,
      ...(part.kind === 'serve' ? { MILLRACE_QUEUES: 'nothing-of-this-server' } : {}),
    },
  })
  await program.line(part.kind === 'serve' ? /^millrace listening on / : /^millrace worker /)
  return program
}

/** Kills in the hardest way, lets the lease be over at once, and starts another in its place. */
async function replace(db: TestDatabase, part: Part): Promise<void> {
  const { pid } = part.program
  part.program.child.kill('SIGKILL')
  await part.program.exitCode
  await db.pool.query(
    `update millrace.dispatcher set lease_seconds = 1, expires_at = clock_timestamp() - interval '1 s'
     where dead_at is null and split_part(name, ' ', 1) like '%:' || $1`,
    [String(pid)],
  )
  part.program = await start(db, part)
}

/** The hook as it is installed, but late by up to half a second, and some of them killed. */
async function installHook(plain: Plain, url: string): Promise<void> {
  const env = { MILLRACE_URL: url, MILLRACE_TOKEN: ADMIN }
  const said = await begin(['hook', 'install', '--svn', plain.path, '--archive', 'Storm'], { env })
  expect(said.exitCode, said.stderr).toBe(0)
  const hook = join(plain.path, 'hooks', 'post-commit')
  await rename(hook, `${hook}.installed`)
  const jitter = `( /bin/sleep "0.$(($2 * 37 % 50 + 10))"; exec "$0.installed" "$@" ) </dev/null >/dev/null 2>&1 &`
  await writeHook(hook, `[ $(($2 % ${LOST})) -ne 0 ] || kill -KILL $$\n${jitter}`)
}

/** One person, who commits one file again and again. */
async function commitAll(plain: Plain, client: number, folder: string): Promise<void> {
  const file = join(folder, `client-${client}`)
  const { username = '', password = '' } = plain.options.credentials ?? {}
  const login = ['--username', username, '--password', password, '--no-auth-cache', '--non-interactive']
  for (let i = 1; i <= COMMITS; i += 1) {
    await writeFile(file, `${i}\n`)
    await say('svnmucc', [
      ...login,
      '-m',
      `${client} for the ${i}th time`,
      'put',
      file,
      `${plain.options.url}/of-${client}`,
    ])
  }
}

/** What the database and the tasks themselves tell of it. */
async function compare(db: TestDatabase, told: readonly (readonly [name: string, rev: number])[]): Promise<void> {
  const rows = await all(db)
  const revisions = Array.from({ length: LAST }, (_, i) => i + 1)
  for (const name of ['indexing', 'checking', 'counting']) {
    const own = rows.filter((row) => row.name === name)
    // Nothing is missing, and nothing succeeded twice.
    if (name !== 'counting') expect(own.map(({ rev }) => rev)).toEqual(revisions)
    expect(own).toHaveLength(name === 'counting' ? 2 * COMMITS : LAST)
    expect(own.filter(({ state, successes }) => state !== 'succeeded' || successes !== 1)).toEqual([])
    // None began before the one of the revision before it had ended.
    expect(own.filter(({ began }, i) => i > 0 && began < (own[i - 1] as Row).ended)).toEqual([])
    // As the tasks saw it: one whose worker was killed may have run twice, but none came after a later one.
    const seen = told.filter(([task]) => task === name).map(([, rev]) => rev)
    expect([...new Set(seen)]).toEqual(own.map(({ rev }) => rev))
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  }
  // Not the polling alone has found them: hooks were heard.
  const { rows: looks } = await db.pool.query('select announced_at from millrace.archive_look')
  expect(looks).toEqual([{ announced_at: expect.any(Date) }])
  const indexed = new Map(rows.filter(({ name }) => name === 'indexing').map((row) => [row.rev, row.ended]))
  const early = rows.filter(({ name, rev, began }) => name === 'checking' && began < (indexed.get(rev) as number))
  expect(early).toEqual([])
}

type Row = { name: string; rev: number; state: string; successes: number; began: number; ended: number }

const all = async ({ pool }: TestDatabase): Promise<Row[]> =>
  (
    await pool.query<Row>(
      `select a.name, a.number::int as rev, coalesce(d.state::text, 'unfinished') as state,
         (select count(*)::int from millrace.attempt t where t.task = a.task and t.outcome = 'succeeded')
           + (d.state = 'succeeded')::int as successes,
         extract(epoch from d.started_at)::float8 as began, extract(epoch from d.finished_at)::float8 as ended
       from millrace.archive_task a left join millrace.done d on d.id = a.task
       where a.name <> 'COMMIT' order by a.name, a.number`,
    )
  ).rows

test('A14: many people commit at once, while servers and workers are killed', async () => {
  await using db = await database()
  await using ground = await svnServe()
  const { path } = await scratch()
  const told = join(path, 'told')
  await writeFile(told, '')
  const plain = await ground.create()
  await plain.commit(async (copy) => {
    for (const [file, text] of Object.entries(workflows(told))) await write(join(copy, file), text)
  }, 'the first')

  const ports = [await freePort(), await freePort()]
  const places = ['serve', 'worker', 'serve', 'worker', 'worker'] as const
  const parts: Part[] = []
  for (const [i, kind] of places.entries()) {
    const part = { kind, data: join(path, `${kind}-${i}`), port: ports[i === 0 ? 0 : 1] as number }
    parts.push({ ...part, program: await start(db, part) })
  }
  const ask = await asker(`http://127.0.0.1:${ports[1]}`)
  const source = { type: 'svn', url: plain.options.url }
  expect((await ask('PUT', '/v1/archives/Storm', { body: { source, from: 1 } })).status).toBe(201)
  await installHook(plain, `http://127.0.0.1:${ports[0]}`)

  const succeeded = async () => (await all(db)).filter(({ state }) => state === 'succeeded').length
  const committing = Promise.all(Array.from({ length: CLIENTS }, (_, client) => commitAll(plain, client, path)))
  committing.catch(() => {}) // it is awaited below; a failure there must not end the process here
  const whole = 2 * LAST + 2 * COMMITS
  for (let done = 0, kills = 0; done < whole; ) {
    const wanted = Math.min(done + BETWEEN_DEATHS, whole)
    done = await waitFor(async () => {
      const now = await succeeded()
      return now >= wanted ? now : undefined
    })
    if (kills < KILLS) await replace(db, parts[kills++ % parts.length] as Part)
  }
  await committing
  const lines = readFileSync(told, 'utf8').trim().split('\n')
  await compare(
    db,
    lines.map((line) => [line.split(' ')[0] as string, Number(line.split(' ')[1])] as const),
  )
  for (const { program } of parts) await program[Symbol.asyncDispose]()
}, 600_000)
