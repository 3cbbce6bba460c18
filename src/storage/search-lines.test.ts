import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
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
