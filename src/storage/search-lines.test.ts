import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import type { Db } from '../db/index.ts'
import { createOutputWriter, type FoundLine, InvalidPattern, type LinesOf, readLines, searchLines } from './index.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
})
afterAll(() => db[Symbol.asyncDispose]())

let tasks = 0

async function store(text: string): Promise<LinesOf> {
  tasks += 1
  const of: LinesOf = { task: String(tasks), attempt: 1, stream: 'mixed' }
  const writer = createOutputWriter({ pool: db.pool, ...of })
  await writer.write('stdout', Buffer.from(text))
  await writer.close()
  return of
}

const plain = { isRegex: false, isCaseSensitive: false, from: 1, limit: 100 }

/** Asks until all is searched. */
async function searchAll(of: LinesOf, options: Parameters<typeof searchLines>[2]) {
  const found: FoundLine[] = []
  let requests = 0
  for (let from: number | null = options.from; from !== null; requests += 1) {
    const page: Awaited<ReturnType<typeof searchLines>> = await searchLines(db.pool, of, { ...options, from })
    found.push(...page.lines)
    from = page.next
  }
  return { found, requests }
}

test('a text is found in any case, or as it is written, with its places', async () => {
  const of = await store('Alpha beta\nnothing\nALPHA alpha\n')
  const { found } = await searchAll(of, { ...plain, query: 'alpha' })
  expect(found.map(({ number, ranges }) => [number, ranges])).toEqual([
    [1, [[0, 5]]],
    [
      3,
      [
        [0, 5],
        [6, 11],
      ],
    ],
  ])
  const exact = await searchAll(of, { ...plain, query: 'alpha', isCaseSensitive: true })
  expect(exact.found.map(({ number }) => number)).toEqual([3])
})

test('places are right behind a letter that grows when it becomes small', async () => {
  const { found } = await searchAll(await store('İİ here\n'), { ...plain, query: 'HERE' })
  expect(found[0]?.ranges).toEqual([[3, 7]])
})

test('a pattern is of RE2, and one that cannot be understood is refused', async () => {
  const of = await store('warning: 12\nerror: 7\n')
  const { found } = await searchAll(of, { ...plain, isRegex: true, query: '^(error|fatal): \\d+$' })
  expect(found.map(({ number, ranges }) => [number, ranges])).toEqual([[2, [[0, 8]]]])
  for (const query of ['(', '(?=x)', '((x{100}){100}){10}']) {
    await expect(searchLines(db.pool, of, { ...plain, isRegex: true, query })).rejects.toThrow(InvalidPattern)
  }
})

test('a pattern that would hang others ends', async () => {
  const of = await store(`${'a'.repeat(30_000)}\n`)
  const page = await searchLines(db.pool, of, { ...plain, isRegex: true, query: '(a+)+$|(a|aa)+b' })
  expect([page.lines.length, page.cut]).toEqual([1, 1])
})

test('a search through much goes on where the last request ended', async () => {
  const lines = Array.from(
    { length: 60_000 },
    (_, i) => `line ${i + 1}, which is long enough to fill a megabyte or two`,
  )
  const of = await store(`${lines.join('\n')}\n`)
  const { found, requests } = await searchAll(of, { ...plain, query: '9999,', limit: 1 })
  expect(found.map(({ number }) => number)).toEqual([9_999, 19_999, 29_999, 39_999, 49_999, 59_999])
  expect(requests).toBeGreaterThan(1)
  const limited = await searchLines(db.pool, of, { ...plain, query: 'line', limit: 5, from: 10 })
  expect([limited.lines.map(({ number }) => number), limited.next]).toEqual([[10, 11, 12, 13, 14], 15])
})

test('what is found is the same as in the lines themselves, whoever wrote them', async () => {
  tasks += 1
  const of: LinesOf = { task: String(tasks), attempt: 1, stream: 'mixed' }
  const writer = createOutputWriter({ pool: db.pool, ...of })
  for (let i = 0; i < 300; i += 1) {
    await writer.write(i % 3 === 0 ? 'stderr' : 'stdout', Buffer.from(`word ${i % 10}${i % 4 === 0 ? '' : '\n'}`))
    if (i % 50 === 0) await writer.flush()
  }
  await writer.write('stdout', Buffer.from(`\n${'x'.repeat(600_000)} word 7\nword 7`))
  await writer.close()
  for (const stream of ['mixed', 'stdout', 'stderr'] as const) {
    const all = await readLines(db.pool, { ...of, stream }, { from: 1, limit: 5000 })
    const expected = all.lines.filter(({ text }) => /word 7/.test(text))
    for (const isRegex of [false, true]) {
      const { found } = await searchAll({ ...of, stream }, { ...plain, isRegex, query: 'word 7', limit: 7 })
      expect(found).toEqual(expected.map((line) => ({ ...line, ranges: expect.any(Array) })))
    }
  }
})

/** A clock that goes on by so much whenever it is looked at, or when told to. */
function aClock(stepMs: number) {
  let now = 0
  const looked = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += stepMs
    return now
  })
  onTestFinished(() => looked.mockRestore())
  return {
    advance(ms: number) {
      now += ms
    },
  }
}

test('each request gets on, however long its reading takes', async () => {
  const of = await store('one\ntwo\nthree\n')
  const clock = aClock(0)
  const slow = {
    async query(...given: Parameters<Db['query']>) {
      const answer = await db.pool.query(...given)
      clock.advance(1000)
      return answer
    },
  } as Db
  for (const isRegex of [false, true]) {
    const page = await searchLines(slow, of, { ...plain, isRegex, query: 't', from: 2 })
    expect(page.next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(2)
    expect(page.lines[0]?.number).toBe(2)
  }
})

test('a line in which a pattern is found often costs no more time than there is', async () => {
  const of = await store(`${'a'.repeat(200)}\nb\n`)
  aClock(50)
  const page = await searchLines(db.pool, of, { ...plain, isRegex: true, query: 'a' })
  const count = page.lines[0]?.ranges.length ?? 0
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(100)
  expect(page.next).toBe(2)
})

test('a pattern has at most 200 characters', async () => {
  const of = await store(`${'a'.repeat(300)}\n`)
  const search = (length: number, isRegex = true) =>
    searchLines(db.pool, of, { ...plain, isRegex, query: 'a'.repeat(length) })
  expect((await search(200)).lines.length).toBe(1)
  await expect(search(201)).rejects.toThrow(InvalidPattern)
  expect((await search(201, false)).lines.length).toBe(1)
})
