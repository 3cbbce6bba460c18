import { basename, dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  announce,
  commitFiles,
  DOCUMENT,
  performing,
  planned,
  registered,
  untilState,
  useArchiveServer,
} from '../../test/archives.ts'
import { commandLineOf } from '../../test/command-line.ts'
import { aPushArchive } from '../../test/push-archive.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { loomCells, loomEdges, loomStates } from './reading.sql.ts'

const server = useArchiveServer()
let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

const three = async () => {
  const work = await performing(server.database)
  work.block('1:build-PDF', '3:build-PDF')
  const first = [{ '_workflows/a.yaml': DOCUMENT }, { 'a.txt': '2' }, { 'a.txt': '3' }]
  const { name, plain } = await registered(server, ground, { from: 1, first })
  await untilState(server, `${name}@3:build-PDF`, 'running')
  return { name, plain }
}

test('the loom tells states and edges in small numbers', async () => {
  const { name } = await three()
  const { json } = await server.ask('GET', `/v1/archives/${name}/loom`)
  expect(json.columns.map((column: { name: string }) => column.name)).toEqual(['COMMIT', 'indexing', 'build-PDF'])
  const cells = (row: { cells: number[] }) =>
    Array.from(
      { length: row.cells.length / 3 },
      (_, i) => `${json.columns[row.cells[3 * i] ?? 0].name} ${json.states[row.cells[3 * i + 1] ?? 0]}`,
    )
  expect(json.rows.map(cells)).toEqual([
    ['COMMIT succeeded', 'indexing succeeded', 'build-PDF running'],
    ['COMMIT succeeded', 'indexing succeeded', 'build-PDF superseded'],
    ['COMMIT succeeded', 'indexing succeeded', 'build-PDF superseded'],
  ])
  const edges = (row: { edges: number[] }) =>
    Array.from({ length: row.edges.length / 4 }, (_, i) => {
      const [from = 0, to = 0, back = 0, kind = 0] = row.edges.slice(4 * i, 4 * i + 4)
      return `${json.columns[from].name} ${back} back, ${json.edges[kind]}, ${json.columns[to].name}`
    })
  expect(edges(json.rows[1])).toEqual([
    'indexing 1 back, finished, indexing',
    'indexing 0 back, succeeded, build-PDF',
    'build-PDF 1 back, cancels, build-PDF',
  ])
  const [first] = json.rows
  const task = await server.ask('GET', `/v1/tasks/${BigInt(first.base) + BigInt(first.cells[8])}`)
  expect(task.json.key).toBe('3:build-PDF')
})

test('a page of the loom leads to the next one', async () => {
  const { name } = await three()
  const page = async (query: string) => (await server.ask('GET', `/v1/archives/${name}/loom?${query}`)).json
  const first = await page('limit=2')
  expect([first.rows.map((row: { number: number }) => row.number), first.next_before]).toEqual([[3, 2], 2])
  const second = await page(`limit=2&before=${first.next_before}`)
  expect([second.rows.map((row: { number: number }) => row.number), second.next_before]).toEqual([[1], null])
  for (const query of ['limit=0', 'limit=201', 'before=0', 'before=x', 'limit=1e9'])
    expect((await server.ask('GET', `/v1/archives/${name}/loom?${query}`)).status).toBe(400)
})

test('the commands show, stop, announce and draw an archive', async () => {
  const { name, plain } = await three()
  const run = commandLineOf(server)
  const said = async (...args: string[]) => (await run(args)).stdout
  expect(await said('archive', 'ls', '--plain')).toMatch(new RegExp(`^${name}\tactive\t3\t0\t`))
  expect(await said('archive', 'show', name)).toContain('planned up to r3')
  expect(await said('archive', 'pause', name)).toContain('is held')
  await commitFiles(plain, { 'a.txt': '4' })
  expect(await said('commit', name, '4')).toBe(`${name} r4: accepted\n`)
  expect(await said('commit', name, '4')).toBe(`${name} r4: known\n`)
  expect(await said('archive', 'resume', name)).toContain('is active')
  await planned(server, name, 4)
  expect(await said('archive', 'catch-up', name)).toBe(`${name}: planned up to r4\n`)
  expect((await run(['archive', 'gaps', name])).stderr).toContain('no gaps')
  await untilState(server, `${name}@4:build-PDF`, 'succeeded')
  const picture = await said('loom', name)
  const line = (rev: number) => picture.split('\n').find((one) => one.startsWith(` r${rev} `))
  expect(line(4)).toMatch(/● +● +●$/)
  expect(line(3)).toMatch(/● +● +⊘$/)
  expect(picture).toMatch(/COMMIT +indexing +build-PDF/)
})

test('what is wrong with a revision is told by the command that the loom names', async () => {
  const { name, plain } = await registered(server, ground, { from: 1 })
  const run = commandLineOf(server)
  await commitFiles(plain, { '_workflows/a.yaml': '- { name: a, depnds: b, command: make }' }, 'a slip')
  await announce(server, name, 1)
  await planned(server, name, 1)
  expect((await run(['loom', name])).stdout).toContain(`millrace show ${name}@1`)
  const { stdout } = await run(['show', `${name}@1`])
  expect(stdout).toMatch(new RegExp(`^${name} r1 +✕ broken\\n`))
  expect(stdout).toContain('message   a slip\n')
  expect(stdout).toContain('_workflows/a.yaml:1:14 error unknown-key: there is no key "depnds" here\n    did you mean')
  expect(stdout).toContain(`${name}@1:COMMIT`)
  expect(JSON.parse((await run(['show', `${name}@1`, '--json'])).stdout)).toMatchObject({ number: 1, state: 'broken' })
  expect((await run(['show', `${name}@7`])).exitCode).toBe(3)
})

test('archive add says what it takes, and registers', async () => {
  const plain = await ground.create()
  await commitFiles(plain, { 'a.txt': 'x' })
  const run = commandLineOf(server)
  expect((await run(['archive', 'add', 'A'])).exitCode).toBe(2)
  expect((await run(['archive', 'add', 'A', '--svn', plain.options.url, '--branch', 'x'])).exitCode).toBe(2)
  for (const kind of ['--svn', '--git']) {
    const { exitCode, stderr } = await run(['archive', 'add', 'A', kind, `${plain.path}x`])
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('cannot be reached')
    expect(stderr).toMatch(/give the path of a repository.*(svnadmin create|git init --bare) PATH/)
  }
  const byPath = ['archive', 'add', 'By path', '--svn', `./${basename(plain.path)}`, '--json=source']
  const { stdout } = await run(byPath, { workingDirectory: dirname(plain.path) })
  expect(JSON.parse(stdout)).toEqual({ source: { type: 'svn', url: plain.options.url } })
  const added = await run(['archive', 'add', 'A', '--svn', plain.options.url, '--from', '1', '--json=name,first'])
  expect(JSON.parse(added.stdout)).toEqual({ name: 'A', first: 1 })
  expect((await run(['commit', 'A', 'x'])).exitCode).toBe(2)
  expect((await run(['commit', 'nobody', '1'])).exitCode).toBe(3)
  expect((await run(['archive', 'rm', 'A', '--yes'])).stdout).toBe('A\n')
  expect((await run(['archive', 'show', 'A'])).exitCode).toBe(3)
})

test('announcing is idempotent by any way', async () => {
  const { name } = await three()
  expect(await announce(server, name, 3)).toBe(200)
  expect((await server.ask('PUT', `/v1/archives/${name}/revisions/3`)).status).toBe(200)
})

/** Runs of a task at revision 1 that were canceled, as many as are wanted, with the ids after this one. */
async function addRuns(name: string, count: number, after: number) {
  const { pool } = server.database
  const { rows } = await pool.query('select id from millrace.archive where name = $1', [name])
  const archive: string = rows[0].id
  await pool.query(
    `insert into millrace.archive_task (archive, number, task, name, run, workflow)
     select $1, 1, $3 + n, 'indexing', n::text, 'a' from generate_series(1, $2::int) n`,
    [archive, count, after],
  )
  await pool.query(
    `insert into millrace.done (id, finished_at, epoch, state, prior)
     select $2 + n, now(), 0, 'canceled', 'waiting' from generate_series(1, $1::int) n`,
    [count, after],
  )
  return archive
}

test('of any number of runs at a revision the loom looks at the last', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'a.yaml': DOCUMENT })
  const archive = await addRuns(name, 50, 1_000_000)
  const { pool } = server.database
  await pool.query(
    `insert into millrace.edge (prerequisite, dependent, condition)
     select 1000000 + n, 1000001 + n, 'finished' from generate_series(1, 49) n`,
  )
  const window = { archive, first: '1', last: '1' }
  const countOf = (list: string | null) => list?.split(',').length
  expect(countOf((await loomStates(pool, window)).tasks)).toBe(3)
  const { tasks } = (await loomCells(pool, window)).find((column) => column.name === 'indexing') as { tasks: string }
  expect(tasks).toBe('{1000050}')
  // COMMIT for build-PDF, the run before for the last run, and what build-PDF waits for.
  expect(countOf((await loomEdges(pool, window)).tasks)).toBe(3)
  const { json } = await server.ask('GET', `/v1/archives/${encodeURIComponent(name)}/loom`)
  const [row] = json.rows
  const at = row.cells.findIndex((column: number, i: number) => i % 3 === 0 && json.columns[column].name === 'indexing')
  expect(json.states[row.cells[at + 1]]).toBe('canceled')
  expect(Number(row.base) + row.cells[at + 2]).toBe(1_000_050)
})

test('a revision with more runs than can be shown has its last ones, and says so', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'a.yaml': DOCUMENT })
  const show = async () => (await server.ask('GET', `/v1/archives/${encodeURIComponent(name)}/revisions/1`)).json
  expect(await show()).toMatchObject({ tasks_cut: false, task_count: 2, tasks: [{}, {}, {}] })
  await addRuns(name, 1000, 2_000_000)
  const { tasks, ...revision } = await show()
  expect(revision).toMatchObject({ tasks_cut: true, task_count: 1002 })
  expect([tasks.length, tasks[0].run, tasks.at(-1).run]).toEqual([1000, '1', '1000'])
  const timeline = await server.ask('GET', `/v1/timeline?archive=${encodeURIComponent(name)}&rev=1&limit=3`)
  expect(timeline.json.is_cut).toBe(true)
})

test('threads lead across gaps of any size between the numbers of revisions', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'a.yaml': DOCUMENT })
  await commit({ 'a.yaml': DOCUMENT })
  for (const table of ['revision', 'archive_task'])
    await server.database.pool.query(
      `update millrace.${table} set number = number + 20000
       where number = 2 and archive = (select id from millrace.archive where name = $1)`,
      [name],
    )
  const { json } = await server.ask('GET', `/v1/archives/${encodeURIComponent(name)}/loom`)
  const column = (of: string) => json.columns.findIndex((one: { name: string }) => one.name === of)
  const [finished, cancels] = [json.edges.indexOf('finished'), json.edges.indexOf('cancels')]
  const [indexing, pdf] = [column('indexing'), column('build-PDF')]
  const edges = Array.from({ length: json.rows[0].edges.length / 4 }, (_, i) =>
    json.rows[0].edges.slice(4 * i, 4 * i + 4),
  )
  expect(edges).toContainEqual([indexing, indexing, 20_001, finished])
  expect(edges).toContainEqual([pdf, pdf, 20_001, cancels])
})
