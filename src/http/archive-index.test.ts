import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commitFiles, registered, untilState } from '../../test/archives.ts'
import { commandLineOf } from '../../test/command-line.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import { folder, type Ground, type Plain } from '../../test/repositories/ground.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { aServer, type TestServer } from '../../test/server.ts'

const WORKFLOW = `
- name: slow
  command: [sleep, "600"]
  depends: [PREV]
- name: indexing
  uses: index
  depends: [PREV]
`

let server: TestServer
let place: Awaited<ReturnType<typeof folder>>
beforeAll(async () => {
  place = await folder()
  server = await aServer({ data: place.path, poll_seconds: 1 })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await place[Symbol.asyncDispose]()
})

const at = (name: string, query: Record<string, string> = {}) =>
  server.ask('GET', `/v1/archives/${name}/index?${new URLSearchParams(query).toString()}`)

const grounds = [
  ['svn', svnFiles],
  ['git', gitFiles],
] as const

describe.each(grounds)('the index of %s', (_, open) => {
  let ground: Ground
  let name: string
  let plain: Plain
  beforeAll(async () => {
    ground = await open()
    const files = { '_workflows/a.yaml': WORKFLOW, 'docs/a b@%.txt': 'the water mill\n', top: 'the mill race\n' }
    ;({ name, plain } = await registered(server, ground, { from: 1, first: [files] }))
    await commitFiles(plain, { 'docs/new': 'another mill\n', top: null })
    await untilState(server, `${name}@2:indexing`, 'succeeded')
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  test('is kept up to date by commits, and waits for no slow task of an earlier revision', async () => {
    const { json } = await at(name)
    expect(json.rev.number).toBe(2)
    expect(json.file_count).toBe(3)
    expect(json.items.map((item: { path: string }) => item.path)).toEqual(['_workflows', 'docs'])
    const first = await at(name, { rev: '1', path: 'top' })
    expect(first.json.items).toMatchObject([{ path: 'top', size: 14, last_changed: 1, kind: 'file', snippet: null }])
  })

  test('is searched, page by page, at the revision of the first page', async () => {
    const page = await at(name, { q: 'mill', limit: '1' })
    expect(page.json.items).toMatchObject([{ path: 'docs/a b@%.txt', snippet: { line: 1, text: 'the water mill' } }])
    const next = await at(name, { q: 'mill', limit: '1', cursor: page.json.next_cursor })
    expect(next.json).toMatchObject({ items: [{ path: 'docs/new' }], next_cursor: null, rev: page.json.rev })
    const other = await at(name, { q: 'race', cursor: page.json.next_cursor })
    expect([other.status, other.json.code]).toEqual([400, 'cursor_mismatch'])
  })

  test('refuses what it has not', async () => {
    const answers = await Promise.all([
      at(name, { rev: '99' }),
      at(name, { path: 'nowhere' }),
      at(name, { q: '?' }),
      at('nobody'),
      at(name, { rev: 'youngest' }),
    ])
    expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
      [409, 'revision_not_indexed'],
      [404, 'path_not_indexed'],
      [400, 'invalid_query'],
      [404, 'archive_not_found'],
      [400, 'invalid'],
    ])
    expect(answers[0]?.json.remedy).toBe('the nearest that is: 2')
  })

  test('is listed and searched on the command line', async () => {
    const run = commandLineOf(server)
    const listed = await run(['archive', 'index', name, '--rev', '1', '--recursive', '-q'])
    expect(listed.stdout).toBe('_workflows/a.yaml\ndocs/a b@%.txt\ntop\n')
    const found = await run(['archive', 'index', name, '--search', 'WATER', '--path', 'docs', '--json=path,snippet'])
    expect(JSON.parse(found.stdout)).toEqual([{ path: 'docs/a b@%.txt', snippet: { line: 1, text: 'the water mill' } }])
    const table = await run(['archive', 'index', name])
    expect(table.stdout).toMatch(/size +changed +sha-256 +path/)
    expect((await run(['archive', 'index', name, '--rev', '99'])).exitCode).toBe(5)
    expect((await run(['archive', 'index', 'nobody'])).exitCode).toBe(3)
  })
})
