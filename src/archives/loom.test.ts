import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  announce,
  archiveServer,
  commitFiles,
  DOCUMENT,
  performing,
  planned,
  registered,
  untilState,
} from '../../test/archives.ts'
import { commandLineOf } from '../../test/command-line.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { svnFiles } from '../../test/repositories/svn.ts'

let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

const three = async () => {
  const server = await archiveServer()
  const work = await performing(server.database)
  work.block('1:build-PDF', '3:build-PDF')
  const first = [{ '_workflows/a.yaml': DOCUMENT }, { 'a.txt': '2' }, { 'a.txt': '3' }]
  const { name, plain } = await registered(server, ground, { from: 1, first })
  await untilState(server, `${name}@3:build-PDF`, 'running')
  return { server, work, name, plain }
}

test('the loom tells states and edges in small numbers', async () => {
  const { server, name } = await three()
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
  const { server, name } = await three()
  const page = async (query: string) => (await server.ask('GET', `/v1/archives/${name}/loom?${query}`)).json
  const first = await page('limit=2')
  expect([first.rows.map((row: { number: number }) => row.number), first.next_before]).toEqual([[3, 2], 2])
  const second = await page(`limit=2&before=${first.next_before}`)
  expect([second.rows.map((row: { number: number }) => row.number), second.next_before]).toEqual([[1], null])
  for (const query of ['limit=0', 'limit=201', 'before=0', 'before=x', 'limit=1e9'])
    expect((await server.ask('GET', `/v1/archives/${name}/loom?${query}`)).status).toBe(400)
})

test('the commands show, stop, announce and draw an archive', async () => {
  const { server, name, plain } = await three()
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
  const server = await archiveServer()
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
  const server = await archiveServer()
  const plain = await ground.create()
  await commitFiles(plain, { 'a.txt': 'x' })
  const run = commandLineOf(server)
  expect((await run(['archive', 'add', 'A'])).exitCode).toBe(2)
  expect((await run(['archive', 'add', 'A', '--svn', plain.options.url, '--branch', 'x'])).exitCode).toBe(2)
  expect((await run(['archive', 'add', 'A', '--svn', `${plain.options.url}x`])).stderr).toContain('cannot be reached')
  const added = await run(['archive', 'add', 'A', '--svn', plain.options.url, '--from', '1', '--json=name,first'])
  expect(JSON.parse(added.stdout)).toEqual({ name: 'A', first: 1 })
  expect((await run(['commit', 'A', 'x'])).exitCode).toBe(2)
  expect((await run(['commit', 'nobody', '1'])).exitCode).toBe(3)
  expect((await run(['archive', 'rm', 'A', '--yes'])).stdout).toBe('A\n')
  expect((await run(['archive', 'show', 'A'])).exitCode).toBe(3)
})

test('announcing is idempotent by any way', async () => {
  const { server, name } = await three()
  expect(await announce(server, name, 3)).toBe(200)
  expect((await server.ask('PUT', `/v1/archives/${name}/revisions/3`)).status).toBe(200)
})
