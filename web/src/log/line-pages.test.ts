import { expect, test } from 'vitest'
import { LinePages, type LogAnswer } from './line-pages.ts'

/** A log of so many lines, as the server answers it; `most` bounds an answer besides its limit. */
function aLog(given: { total: number; most?: number }) {
  const asked: [number, number][] = []
  const log = { isComplete: true, isBroken: false, lastText: undefined as string | undefined, ...given }
  const fetch = async (from: number, limit: number, signal: AbortSignal): Promise<LogAnswer> => {
    asked.push([from, limit])
    await Promise.resolve()
    signal.throwIfAborted()
    if (log.isBroken) throw new Error('the server is away')
    const count = Math.max(0, Math.min(limit, log.most ?? limit, log.total - from + 1))
    const items = Array.from({ length: count }, (_, i) => {
      const number = from + i
      const text = number === log.total && log.lastText !== undefined ? log.lastText : `line ${number}`
      return {
        number,
        start: 0,
        length: text.length,
        stream: 'stdout' as const,
        at: '',
        text,
        is_cut: false,
        is_open: false,
      }
    })
    return {
      attempt: 1,
      total_lines: log.total,
      total_bytes: 0,
      is_complete: log.isComplete,
      items,
      next_line: from + count > log.total ? null : from + count,
      first_error_line: null,
    }
  }
  return { log, asked, fetch }
}

function pagesOf(fetch: ReturnType<typeof aLog>['fetch'], options = {}) {
  let tell: () => void = () => {}
  const pages = new LinePages({ fetch, onChange: () => tell(), pageSize: 10, mostPages: 3, ...options })
  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      tell = () => isSo() && resolve()
      tell()
    })
  return { pages, until }
}

test('only the pages in view are fetched, each once', async () => {
  const { fetch, asked } = aLog({ total: 200_000 })
  const { pages, until } = pagesOf(fetch)
  pages.show(100_001, 100_015)
  await until(() => pages.line(100_015) !== undefined)
  pages.show(100_003, 100_012)
  expect(asked).toEqual([
    [100_001, 10],
    [100_011, 10],
  ])
  expect(pages.line(100_001)?.text).toBe('line 100001')
  expect(pages.facts?.total_lines).toBe(200_000)
})

test('however far one goes, so many pages are kept and no more', async () => {
  const { fetch } = aLog({ total: 200_000 })
  const { pages, until } = pagesOf(fetch)
  for (let line = 1; line < 2000; line += 37) {
    pages.show(line, line + 5)
    await until(() => pages.line(line) !== undefined && pages.line(line + 5) !== undefined)
    expect(pages.size).toBeLessThanOrEqual(40)
  }
  pages.show(1, 5)
  await until(() => pages.line(1) !== undefined)
})

test('pages of long lines are forgotten by their size', async () => {
  const { fetch } = aLog({ total: 1000 })
  const { pages, until } = pagesOf(fetch, { mostPages: 100, mostCharacters: 150 })
  for (const line of [1, 11, 21, 31]) {
    pages.show(line, line)
    await until(() => pages.line(line) !== undefined)
  }
  expect(pages.size).toBeLessThanOrEqual(20)
})

test('a page that does not fit one answer is fetched on', async () => {
  const { fetch, asked } = aLog({ total: 25, most: 4 })
  const { pages, until } = pagesOf(fetch)
  pages.show(21, 25)
  await until(() => pages.line(25) !== undefined)
  expect(asked).toEqual([
    [21, 10],
    [25, 6],
  ])
})

test('what goes out of view before it came is not waited for', async () => {
  const { fetch } = aLog({ total: 1000 })
  const { pages, until } = pagesOf(fetch)
  pages.show(1, 5)
  pages.show(501, 505)
  await until(() => pages.line(501) !== undefined)
  expect(pages.line(1)).toBeUndefined()
  expect(pages.error).toBeUndefined()
})

test('a poll brings what has come, and a last line that has grown', async () => {
  const { fetch, log } = aLog({ total: 12 })
  const { pages, until } = pagesOf(fetch)
  log.isComplete = false
  pages.show(11, 12)
  await until(() => pages.line(12) !== undefined)
  expect(await pages.poll()).toBe(false)
  log.lastText = 'line 12 and more'
  expect(await pages.poll()).toBe(true)
  expect(pages.line(12)?.text).toBe('line 12 and more')
  log.total = 15
  log.lastText = undefined
  expect(await pages.poll()).toBe(true)
  expect(pages.line(15)?.text).toBe('line 15')
  log.total = 5000
  await pages.poll()
  expect(pages.facts?.total_lines).toBe(5000)
  expect(pages.size).toBeLessThanOrEqual(40)
})

test('a server that is away is told of, and asked again when wanted', async () => {
  const { fetch, log } = aLog({ total: 12 })
  const { pages, until } = pagesOf(fetch)
  log.isBroken = true
  pages.show(1, 5)
  await until(() => pages.error !== undefined)
  log.isBroken = false
  pages.retry()
  await until(() => pages.line(1) !== undefined)
  expect(pages.error).toBeUndefined()
})
