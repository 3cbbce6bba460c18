import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import type { Db } from '../db/index.ts'
import {
  createOutputWriter,
  findFirstError,
  type LinesOf,
  type OutputLine,
  type OutputStream,
  type OutputView,
  readLines,
  resumeOutputWriter,
} from './index.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
})
afterAll(() => db[Symbol.asyncDispose]())

let tasks = 0
const aTask = (stream: OutputView = 'mixed'): LinesOf => {
  tasks += 1
  return { task: String(tasks), attempt: 1, stream }
}

type Write = readonly [stream: OutputStream, bytes: string | Buffer]

async function store(writes: readonly Write[], of = aTask()): Promise<LinesOf> {
  const writer = createOutputWriter({ pool: db.pool, ...of })
  for (const [stream, bytes] of writes) {
    await writer.write(stream, Buffer.from(bytes as string))
    if (Math.random() < 0.2) await writer.flush() // chunks of every size
  }
  await writer.close()
  return of
}

/** All lines, in pages of so many. */
async function readAll(of: LinesOf, limit: number): Promise<OutputLine[]> {
  const lines: OutputLine[] = []
  for (let from: number | null = 1; from !== null; ) {
    const page: Awaited<ReturnType<typeof readLines>> = await readLines(db.pool, of, { from, limit })
    lines.push(...page.lines)
    from = page.next
  }
  return lines
}

/** What a view holds, cut at its line feeds. */
function linesOf(writes: readonly Write[], view: OutputView): string[] {
  const own = writes.filter(([stream]) => view === 'mixed' || stream === view)
  const lines = Buffer.concat(own.map(([, bytes]) => Buffer.from(bytes as string)))
    .toString('latin1')
    .split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => Buffer.from(line, 'latin1').toString())
}

const words = ['', '\n', 'one', 'two\n', 'three\nfour\n\n', Buffer.from([0xff, 0xfe, 10]), 'ü'.repeat(9), '\r\n']

test('lines of every view are those of what was written, whatever the pages and the chunks', async () => {
  for (let round = 0; round < 4; round += 1) {
    const writes: Write[] = Array.from({ length: 40 }, () => [
      Math.random() < 0.6 ? 'stdout' : 'stderr',
      words[Math.floor(Math.random() * words.length)] ?? '',
    ])
    const { task } = await store(writes)
    for (const stream of ['mixed', 'stdout', 'stderr'] as const) {
      const expected = linesOf(writes, stream)
      for (const limit of [3, 5000]) {
        const lines = await readAll({ task, attempt: 1, stream }, limit)
        expect(lines.map(({ text }) => text)).toEqual(expected)
        expect(lines.map(({ number }) => number)).toEqual(expected.map((_, i) => i + 1))
      }
    }
  }
})

test('a line tells its place, its stream and whether it has ended', async () => {
  const of = await store([
    ['stdout', 'one\n'],
    ['stderr', 'two\n'],
    ['stdout', 'thr'],
    ['stderr', 'ee\n'],
    ['stdout', 'four'],
  ])
  const { lines, total, bytes, next } = await readLines(db.pool, of, { from: 1, limit: 10 })
  const shown = lines.map(({ number, start, length, stream, text, isOpen }) => [
    number,
    start,
    length,
    stream,
    text,
    isOpen,
  ])
  expect(shown).toEqual([
    [1, 0, 3, 'stdout', 'one', false],
    [2, 4, 3, 'stderr', 'two', false],
    [3, 8, 5, 'both', 'three', false],
    [4, 14, 4, 'stdout', 'four', true],
  ])
  expect([total, bytes, next]).toEqual([4, 18, null])
  expect(lines[0]?.at.getTime()).toBeGreaterThan(0)
})

test('a page may be asked for from the end', async () => {
  const of = await store([['stdout', Array.from({ length: 50 }, (_, i) => `line ${i + 1}\n`).join('')]])
  const { lines } = await readLines(db.pool, of, { from: -3, limit: 10 })
  expect(lines.map(({ text }) => text)).toEqual(['line 48', 'line 49', 'line 50'])
  expect((await readLines(db.pool, of, { from: -500, limit: 10 })).lines[0]?.number).toBe(1)
  expect(await readLines(db.pool, of, { from: 51, limit: 10 })).toMatchObject({ lines: [], next: null, total: 50 })
})

/** Counts the bytes of output that are read. */
function counting(): { readonly db: Db; readonly bytes: () => number } {
  let bytes = 0
  const query = async (given: unknown) => {
    const result = await (db.pool.query as (given: unknown) => Promise<{ rows: { bytes?: Buffer }[] }>)(given)
    for (const row of result.rows) bytes += row.bytes?.length ?? 0
    return result
  }
  return { db: { query } as unknown as Db, bytes: () => bytes }
}

test('a page in the middle of much output reads little of it', async () => {
  const text = Array.from({ length: 200_000 }, (_, i) => `line ${i + 1} of a long log that goes on\n`).join('')
  const of = await store([['stdout', text]])
  for (const from of [1, 100_000, 199_950]) {
    const spy = counting()
    const { lines, total } = await readLines(spy.db, of, { from, limit: 50 })
    expect([lines.length, lines[0]?.text, total]).toEqual([50, `line ${from} of a long log that goes on`, 200_000])
    expect(spy.bytes()).toBeLessThan(64 * 1024 * 5)
  }
})

test('a line without end is answered in part, and what follows is found without reading it', async () => {
  const long = 'ä'.repeat(5 * 1024 * 1024)
  const of = await store([
    ['stdout', 'before\n'],
    ['stdout', `${long}\n`],
    ['stdout', 'after\n'],
    ['stdout', long],
  ])
  const spy = counting()
  const { lines, total } = await readLines(spy.db, of, { from: 1, limit: 10 })
  expect(lines.map(({ length, isCut, isOpen }) => [length, isCut, isOpen])).toEqual([
    [6, false, false],
    [10 * 1024 * 1024, true, false],
    [5, false, false],
    [10 * 1024 * 1024, true, true],
  ])
  expect(lines[1]?.text).toBe('ä'.repeat(8 * 1024))
  expect([lines[2]?.text, total]).toEqual(['after', 4])
  expect(spy.bytes()).toBeLessThan(1024 * 1024)
})

test('the last line grows while it is read', async () => {
  const of = aTask()
  const writer = createOutputWriter({ pool: db.pool, ...of })
  await writer.write('stdout', Buffer.from('one\ntw'))
  await writer.flush()
  const first = await readLines(db.pool, of, { from: 1, limit: 10 })
  expect(first.lines.map(({ text, isOpen }) => [text, isOpen])).toEqual([
    ['one', false],
    ['tw', true],
  ])
  await writer.write('stdout', Buffer.from('o\nthree\n'))
  await writer.close()
  const rest = await readLines(db.pool, of, { from: 2, limit: 10 })
  expect(rest.lines.map(({ text, isOpen }) => [text, isOpen])).toEqual([
    ['two', false],
    ['three', false],
  ])
})

const forget = (of: LinesOf, from = 0) =>
  db.pool.query(
    `update millrace.output set lines = null, stdout_lines = null, stderr_lines = null, error_at = null
     where task = $1 and start >= $2`,
    [of.task, from],
  )

test('what was stored without a count is counted when it is asked for, also by several at once', async () => {
  const writes: Write[] = Array.from({ length: 300 }, (_, i) => [i % 3 === 0 ? 'stderr' : 'stdout', `line ${i}\nx`])
  const of = await store([...writes, ['stdout', 'x'.repeat(9 * 1024 * 1024)], ['stdout', '\nerror: here\n']])
  const expected = (await readAll(of, 5000)).map(({ text }) => text)
  await forget(of)
  const all = await Promise.all(Array.from({ length: 4 }, () => readAll(of, 5000)))
  for (const lines of all) expect(lines.map(({ text }) => text)).toEqual(expected)
  expect(await findFirstError(db.pool, of)).toBe(expected.length)
  await forget(of, 1000)
  expect((await readAll(of, 5000)).map(({ text }) => text)).toEqual(expected)
})

test('a writer that goes on with uncounted output counts it first', async () => {
  const of = aTask()
  await store([['stdout', 'one\ntwo\n']], of)
  await forget(of)
  const writer = await resumeOutputWriter({ pool: db.pool, ...of })
  await writer.write('stdout', Buffer.from('one\ntwo\nthree\n'))
  await writer.close()
  const { lines } = await readLines(db.pool, of, { from: 3, limit: 10 })
  expect(lines.map(({ number, text }) => [number, text])).toEqual([[3, 'three']])
})

test('the first line that looks like an error is found in every view', async () => {
  const writes: Write[] = [
    ['stdout', '0 errors, 12 warnings\nno error yet\nerror-free\nerrors: 0\n'],
    ['stdout', `${'x'.repeat(200_000)}\n`],
    ['stderr', 'warning\nmain.c:3: error: expected ;\n'],
    ['stdout', 'make: *** failed\n'],
  ]
  const of = await store(writes)
  expect(await findFirstError(db.pool, of)).toBe(7)
  expect(await findFirstError(db.pool, { ...of, stream: 'stderr' })).toBe(2)
  expect(await findFirstError(db.pool, { ...of, stream: 'stdout' })).toBe(6)
  expect(await findFirstError(db.pool, await store([['stdout', 'all is well\n']]))).toBeUndefined()
})
