import { expect, test } from 'vitest'
import { waitFor } from '../../test/processes.ts'
import { aPushArchive } from '../../test/push-archive.ts'
import { useServer } from '../../test/server.ts'

const BOOK = `
on:
  commit: {}
  schedule: [{ cron: "0 3 * * 1-5", timezone: Europe/Berlin }]
tasks:
  - name: index
    command: ["true"]
    depends: [PREV]
  - name: pdf
    command: [sleep, "600"]
    depends: [index]
    cancels: [PREV]
    queue: nobody
`
const MANUAL = 'on: { commit: { paths: ["docs/**"] } }\ntasks: [{ name: site, command: [make] }]\n'

const server = useServer()

const pathOf = (name: string) => `/v1/archives/${encodeURIComponent(name)}`
const index = async (name: string, rev: number) =>
  waitFor(async () => {
    const { json } = await server.ask('GET', `/v1/tasks/${encodeURIComponent(`${name}@${rev}:index`)}`)
    return json.state === 'succeeded' ? true : undefined
  })

test('the plan of the next commit names what it would wait for and cancel', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': BOOK, 'site.yaml': MANUAL })
  await index(name, 1)
  const { json } = await server.ask('GET', `${pathOf(name)}/plan`)
  expect(json).toMatchObject({ of: 1, rev: 2, problems: [] })
  expect(json.tasks.map((task: { name: string }) => task.name)).toEqual(['COMMIT', 'index', 'pdf'])
  expect(json.tasks[2]).toMatchObject({ workflow: 'book', queue: 'nobody', cancels: [`${name}@1:pdf`] })
  expect(json.tasks[1].requires).toContainEqual({
    key: `${name}@1:index`,
    when: 'finished',
    because: 'written',
    instead_of: null,
  })
  expect(json.absent).toEqual([{ name: 'site', workflow: 'site', reason: 'paths' }])
  expect(json.notation).toContain('rev-1:pdf    <!= rev-2:pdf')
  expect(json.schedules).toMatchObject([{ workflow: 'book', words: 'At 03:00, Monday through Friday' }])
  expect(json.schedules[0].next.length).toBe(5)
  const changed = await server.ask('GET', `${pathOf(name)}/plan?path=docs/a.md&path=b`)
  expect(changed.json.absent).toEqual([])
  // Nothing was added.
  expect((await server.ask('GET', pathOf(name))).json.planned.number).toBe(1)
  expect((await server.ask('GET', `${pathOf(name)}/plan?rev=7`)).json.code).toBe('revision_not_planned')
})

test('asking for a plan writes nothing; planning takes out what is over', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': BOOK })
  await server.ask('POST', `/v1/tasks/${encodeURIComponent(`${name}@1:pdf`)}/cancel`)
  const isOpen = async () => {
    const { rows } = await server.database.pool.query(
      `select is_open from millrace.archive_task
       where archive = (select id from millrace.archive where name = $1) and number = 1 and name = 'pdf'`,
      [name],
    )
    return rows[0].is_open
  }
  const { json } = await server.ask('GET', `${pathOf(name)}/plan`)
  expect(json.tasks.find((task: { name: string }) => task.name === 'pdf').cancels).toEqual([])
  expect(await isOpen()).toBe(true)
  await commit({ 'book.yaml': BOOK })
  expect(await isOpen()).toBe(false)
})

test('the definition of a revision is answered with findings in their places, and the revision with those before', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': BOOK })
  await commit({ 'book.yaml': 'tasks:\n  - name: index\n    depends: [nothing]\n    command: ["true"]\n' })
  await commit({ 'book.yaml': 'tasks:\n  - name: index\n    depends: [nothing]\n    command: ["true"]\n' })
  const broken = (await server.ask('GET', `${pathOf(name)}/definition?rev=2`)).json
  expect(broken).toMatchObject({ rev: 2, workflows: [], graph: null, schedules: [] })
  expect(broken.problems).toMatchObject([
    { code: 'unknown-depends', file: '_workflows/book.yaml', line: 3, column: 15, end_line: 3, end_column: 22 },
  ])
  const sound = (await server.ask('GET', `${pathOf(name)}/definition?rev=1`)).json
  expect(sound.workflows).toMatchObject([{ name: 'book', is_on_commit: true, tasks: ['index', 'pdf'] }])
  expect(sound.graph.nodes.map(({ label }: { label: string }) => label)).toContain('PREV:pdf')
  expect(sound.hash).not.toBe(broken.hash)
  const changed = (await server.ask('GET', `${pathOf(name)}/revisions/2`)).json
  expect(changed.previous_files).toEqual(sound.files)
  expect((await server.ask('GET', `${pathOf(name)}/revisions/3`)).json.previous_files).toBeNull()
})

test('archives are listed with how far each has got', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': BOOK })
  await commit({ 'book.yaml': BOOK })
  await index(name, 2)
  await server.ask('POST', `${pathOf(name)}/commits`, { body: { rev: 5, tasks: [] } })
  const other = await aPushArchive(server)
  const listed = async (query: string) => {
    const { items } = (await server.ask('GET', `/v1/archives?${query}`)).json
    return items.filter((one: { name: string }) => [name, other.name].includes(one.name))
  }
  const items = await listed('include=frontier')
  expect(items.map((one: { name: string }) => one.name)).toEqual([name, other.name].toSorted())
  const frontierOf = (archive: string) => items.find((one: { name: string }) => one.name === archive).frontier
  expect(frontierOf(name)).toEqual({
    revisions: [
      { number: 2, state: 'running' },
      { number: 1, state: 'canceled' },
    ],
    tasks: [
      { name: 'COMMIT', rev: 2, state: 'succeeded', behind: 0, open: 0 },
      { name: 'index', rev: 2, state: 'succeeded', behind: 0, open: 0 },
      { name: 'pdf', rev: null, state: null, behind: null, open: 1 },
    ],
    gap: { first: 3, last: 5, reason: 'not_announced' },
  })
  expect(frontierOf(other.name)).toEqual({ revisions: [], tasks: [], gap: null })
  for (const one of await listed('')) expect(one.frontier).toBeUndefined()
})
