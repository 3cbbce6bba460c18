import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { begin } from '../../test/command-line.ts'
import { emptyDatabase } from '../../test/database.ts'
import { below, command, shell, speaking } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'
import { runProgram } from '../../test/program.ts'
import { scratch } from '../../test/scratch.ts'
import { aServer, useServer } from '../../test/server.ts'

/** Every row of every table as text, but those of servers that come and go, and of events, which each server numbers. */
async function contents(databaseUrl: string): Promise<Record<string, string[]>> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'millrace'::regnamespace and relkind = 'r'`,
  )
  const all: Record<string, string[]> = {}
  for (const { name } of rows) {
    if (/^(outbox|dispatcher|idle|schema_version)/.test(name)) continue
    const found = await client.query<{ row: string }>(`select t::text as row from millrace.${name} t order by 1`)
    all[name] = found.rows.map(({ row }) => row)
  }
  await client.end()
  return all
}

/** A server that has done and kept a bit of everything, and is stopped. */
const server = useServer()
beforeAll(async () => {
  const { add, ended, ask } = speaking(() => server)
  const ids = await add(
    shell(`printf 'a\\xff"\\\\{,}\\n'; echo err >&2`),
    below('#0', command('false')),
    below('#1', command('true'), { data: { note: '"quoted", {braced} \\ and ü', run_if: 'always' } }),
    { metadata: { type: 'sleep', parent: 'root' }, data: { seconds: 86_400 } },
  )
  await ended(...ids.slice(0, 3))
  // Moved below a younger one: parents are not older than their children.
  const [late] = await add({ metadata: { type: 'command', parent: ids[3] }, data: { command: 'true' } })
  const [later] = await add({ metadata: { type: 'command', parent: ids[3] }, data: { command: 'true' } })
  await ask('PATCH', `/v1/nodes/${late}`, { body: { metadata: { parent: later } } })
  await ask('POST', '/v1/tokens', { body: { name: 'ci', role: 'viewer' } })
  await ask('PUT', '/v1/secrets/KEY', { body: { value: 'hush' } })
  await server.stop()
})

describe('db', () => {
  test('export and import bring everything into another database, where a server goes on', async () => {
    await using target = await emptyDatabase()
    const { path: folder } = await scratch()
    const file = join(folder, 'copy.gz')
    const out = await begin(['db', 'export', file, '--json'], { env: { DATABASE_URL: server.database.databaseUrl } })
    expect(out).toMatchObject({ exitCode: 0 })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const into = await begin(['db', 'import', file, '--json'], { env: { DATABASE_URL: target.databaseUrl } })
    expect(into).toMatchObject({ exitCode: 0, stdout: `${JSON.stringify({ rows: JSON.parse(out.stdout).rows })}\n` })
    expect(await contents(target.databaseUrl)).toEqual(await contents(server.database.databaseUrl))

    // biome-ignore lint/suspicious/noExplicitAny: the pool of the database is not needed to serve
    await using next = await aServer({ on: { ...target, pool: undefined } as any })
    const { run, ask } = speaking(() => next)
    const before = (await ask('GET', '/v1/nodes?metadata=id')).json.length
    const [node] = await run(shell('echo again'))
    expect(node).toMatchObject({ metadata: { state: 'finished' }, data: { stdout: 'again\n' } })
    expect((await ask('GET', '/v1/nodes?metadata=id')).json).toHaveLength(before + 1)
    // Events are told on the new server, whose transactions are counted anew.
    await waitFor(async () => {
      const { json } = await ask('GET', '/v1/events?after=oldest', { headers: { accept: 'application/json' } })
      return json.items?.some(({ key }: { key: string }) => key === node.metadata.id) ? true : undefined
    })
  })

  test('move does both at once, with the URL from standard input', async () => {
    await using target = await emptyDatabase()
    const env = { DATABASE_URL: server.database.databaseUrl }
    const moved = await begin(['db', 'move'], { env, stdin: `${target.databaseUrl}\n` })
    expect(moved).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^moved \d+ rows/) })
    expect(await contents(target.databaseUrl)).toEqual(await contents(server.database.databaseUrl))
    // A second time there is something there already.
    const again = await begin(['db', 'move'], { env, stdin: target.databaseUrl })
    expect(again.exitCode).toBe(5)
    expect(again.stderr).toContain('holds something already')
  })

  test('move to where no database is says so', async () => {
    const env = { DATABASE_URL: server.database.databaseUrl }
    const moved = await begin(['db', 'move'], { env, stdin: 'postgres://nobody@127.0.0.1:1/nothing\n' })
    expect(moved.exitCode).not.toBe(0)
    expect(moved.stderr).toContain('to fix it:')
    expect(moved.stdout).toBe('')
  })

  test('a copy that is cut, another file, or none changes nothing', async () => {
    await using target = await emptyDatabase()
    const { path: folder } = await scratch()
    const file = join(folder, 'copy.gz')
    await begin(['db', 'export', file], { env: { DATABASE_URL: server.database.databaseUrl } })
    const lines = gunzipSync(await readFile(file))
      .toString()
      .split('\n')
    const broken = {
      'cut.gz': (await readFile(file)).subarray(0, -200),
      'half.gz': gzipSync(lines.slice(0, lines.length / 2).join('\n')),
      'fewer.gz': gzipSync(lines.filter((line) => !line.startsWith('"(1,')).join('\n')),
      'other.gz': gzipSync('{"format":"something else"}\n'),
      'text.gz': Buffer.from('no copy at all'),
    }
    for (const [name, bytes] of Object.entries(broken)) {
      await writeFile(join(folder, name), bytes)
      const read = await begin(['db', 'import', join(folder, name)], { env: { DATABASE_URL: target.databaseUrl } })
      expect([name, read.exitCode], read.stderr).toEqual([name, expect.toBeOneOf([2, 5])])
      expect(read.stderr).toContain('to fix it:')
    }
    const gone = await begin(['db', 'import', join(folder, 'gone.gz')], { env: { DATABASE_URL: target.databaseUrl } })
    expect(gone.exitCode).toBe(2)
    const { task } = await contents(target.databaseUrl)
    expect(task).toEqual([])
  })

  test('url and shell reach the database', async () => {
    await using target = await emptyDatabase()
    const env = { DATABASE_URL: target.databaseUrl }
    expect((await begin(['db', 'url'], { env })).stdout).toBe(`${target.databaseUrl}\n`)
    await using program = runProgram('src/bin.ts', { args: ['db', 'shell', '-Atc', 'select 6 * 7'], env })
    expect(await program.exitCode).toBe(0)
    expect(program.stdout()).toBe('42\n')
    await using failing = runProgram('src/bin.ts', { args: ['db', 'shell', '--', '-c', 'select nothing'], env })
    expect(await failing.exitCode).toBe(1)
  })
})
