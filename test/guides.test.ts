// The code of the library's guide is one program: compiled as a user's would be, and run.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as library from '../src/index.ts'
import { database, type TestDatabase } from './database.ts'
import { waitFor } from './processes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'test', '.compiled')
const file = join(folder, 'library.ts')

const page = readFileSync(join(root, 'docs', 'guides', 'library.md'), 'utf8')

let db: TestDatabase

beforeAll(async () => {
  db = await database()
  await db.pool.query('create table thumbnail (photo text, bytes int); create table complaint (album text, text text)')
  const pieces = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
  const program = pieces
    .join('\n')
    .replaceAll("from 'millrace'", "from '../../src/index.ts'")
    .replaceAll("from 'millrace/testing'", "from '../../src/testing.ts'")
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, program)
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await db[Symbol.asyncDispose]()
})

test('the code of the library guide compiles under our own strict rules', () => {
  const config = join(folder, 'tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({ extends: '../../tsconfig.json', include: [], exclude: [], files: ['library.ts'] }),
  )
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'pipe', encoding: 'utf8' })
})

test('the code of the library guide runs and does what the page says', async () => {
  const guide = await import(pathToFileURL(file).href)
  const result = await guide.testAlbum(db.databaseUrl)
  expect(result).toMatchObject({
    alone: { bytes: 1000 },
    postponed: true,
    next: { outcome: 'succeeded', state: 'succeeded', output: { bytes: 20_000 } },
    counts: { succeeded: 3, failed: 0 },
  })
  const { rows } = await db.pool.query('select photo from thumbnail order by photo')
  expect(rows).toEqual([{ photo: 'a.jpg' }, { photo: 'b.jpg' }])
  await guide.run(db.databaseUrl)
})

test('a task that adds its requirements while it runs waits for them, as the library guide says', async () => {
  const guide = await import(pathToFileURL(file).href)
  const year = String(new Date().getUTCFullYear())
  expect(await guide.collectAlbum(db.databaseUrl)).toEqual({ state: 'succeeded', year })
})

test('adding an album again answers the tasks that are there', async () => {
  const guide = await import(pathToFileURL(file).href)
  const { millrace, first, again, why } = await guide.addAlbum(db.databaseUrl)
  expect(again).toEqual({ id: first.id, isNew: false })
  expect(why.sentence).toBe('succeeded')
  await millrace.close()
})

test('the subscriber and the list of the library guide find what the page says', async () => {
  const guide = await import(pathToFileURL(file).href)
  const { millrace, subscription, seen } = await guide.follow(db.databaseUrl, 'oldest')
  await waitFor(() => (seen.length > 0 ? true : undefined))
  expect(seen).toMatchObject([{ name: 'album.shown', scope: 'album:summer', detail: { to: 'ann' } }])
  subscription.unsubscribe()
  await millrace.close()
  expect(await guide.failures(db.databaseUrl)).toEqual({ failed: [], waiting: { count: 0, isExact: true } })
})

// A category more would not compile here.
const classes: Record<library.ErrorCategory, new (message: string) => library.WorkError> = {
  transient: library.TransientError,
  permanent: library.PermanentError,
  advisory: library.AdvisoryError,
}

test('the table of outcomes in the library guide names every error that says what it means for the task', () => {
  const exported = Object.entries(library).flatMap(([name, of]) =>
    typeof of === 'function' && of.prototype instanceof library.WorkError ? [name] : [],
  )
  expect(exported.sort()).toEqual(
    Object.values(classes)
      .map(({ name }) => name)
      .sort(),
  )
  const table = /^## Outcomes\n\n((?:\|.*\n)+)/m.exec(page)?.[1] ?? ''
  const named = [...table.matchAll(/^\| throws an? `(\w+)`/gm)].map(([, name = '']) => name)
  expect(named.sort()).toEqual(exported)
})
