import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { waitFor } from '../../test/processes.ts'
import { registry } from '../db/index.ts'
import {
  createOutputWriter,
  followOutput,
  type OutputPiece,
  type OutputStream,
  type OutputWriterOptions,
  outputSize,
  readLines,
  readOutput,
  resumeOutputWriter,
  searchLines,
} from './index.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
})
afterAll(() => db[Symbol.asyncDispose]())

let tasks = 0
const aTask = () => {
  tasks += 1
  return { task: String(tasks), attempt: 1 }
}

type Write = readonly [stream: OutputStream, text: string | Buffer]
const OUT = 'stdout'
const ERR = 'stderr'
const VIEWS = ['mixed', OUT, ERR] as const

async function store(writes: readonly Write[], options: Partial<OutputWriterOptions> = {}) {
  const of = { ...aTask(), ...options }
  const writer = createOutputWriter({ pool: db.pool, ...of })
  for (const [stream, text] of writes) await writer.write(stream, Buffer.from(text as string))
  const size = await writer.close()
  expect(await outputSize(db.pool, of)).toEqual({ ...size, attempt: of.attempt })
  return of
}

/** Everything of a view, read in pieces of so many bytes. */
async function readAll(of: { task: string; attempt?: number }, stream?: 'mixed' | OutputStream, limit = 65_536) {
  const pieces: OutputPiece[] = []
  for (let start = 0; ; ) {
    const piece = await readOutput(db.pool, { ...of, ...(stream ? { stream } : {}), start, limit })
    pieces.push(piece)
    start = piece.next
    if (piece.isEnd) break
    expect(piece.bytes.length).toBeGreaterThan(0)
  }
  return Buffer.concat(pieces.map((piece) => piece.bytes))
}

const textOf = async (of: { task: string; attempt?: number }, stream?: 'mixed' | OutputStream) =>
  (await readAll(of, stream)).toString()

test('the order across stdout and stderr is kept, and each can be read alone', async () => {
  const of = await store([
    [OUT, 'one\n'],
    [ERR, 'two\n'],
    [OUT, 'thr'],
    [OUT, 'ee\n'],
    [ERR, 'four\n'],
  ])
  expect(await textOf(of)).toBe('one\ntwo\nthree\nfour\n')
  expect(await textOf(of, 'stdout')).toBe('one\nthree\n')
  expect(await textOf(of, 'stderr')).toBe('two\nfour\n')
  const piece = await readOutput(db.pool, { ...of, start: 2, limit: 8 })
  expect(piece.bytes.toString()).toBe('e\ntwo\nth')
  expect(piece).toMatchObject({
    attempt: 1,
    next: 10,
    isEnd: false,
    runs: [
      { stream: 'stdout', length: 2 },
      { stream: 'stderr', length: 4 },
      { stream: 'stdout', length: 2 },
    ],
  })
})

test('bytes that are no text are kept as they are', async () => {
  const bytes = Buffer.from([0, 255, 254, 0, 195, 10, 128])
  const of = await store([
    [ERR, bytes],
    [OUT, bytes],
  ])
  expect(await readAll(of, 'stderr')).toEqual(bytes)
  expect(await readAll(of)).toEqual(Buffer.concat([bytes, bytes]))
})

test('a long output in random pieces is read back from any place, in every view', async () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const writes = Array.from({ length: 3000 }, (_, i): Write => {
    const text = `${i} `.repeat(1 + random(random(20) === 0 ? 4000 : 20))
    return [random(3) === 0 ? ERR : OUT, text]
  })
  const of = await store(writes)
  const expected = (stream?: OutputStream) =>
    Buffer.from(
      writes
        .filter(([of]) => stream === undefined || of === stream)
        .map(([, text]) => text)
        .join(''),
    )
  for (const stream of ['mixed', OUT, ERR] as const) {
    const whole = expected(stream === 'mixed' ? undefined : stream)
    expect((await readAll(of, stream, 100_000)).equals(whole)).toBe(true)
    for (let i = 0; i < 20; i += 1) {
      const start = random(whole.length)
      const { bytes, next } = await readOutput(db.pool, { ...of, stream, start, limit: 1 + random(5000) })
      expect(bytes.equals(whole.subarray(start, next))).toBe(true)
      expect(bytes.length).toBeGreaterThan(0)
    }
  }
})

test('nothing is read from where there is nothing', async () => {
  const none = aTask()
  expect(await readOutput(db.pool, none)).toEqual({
    attempt: 1,
    bytes: Buffer.alloc(0),
    runs: [],
    next: 0,
    isEnd: true,
  })
  expect(await outputSize(db.pool, { task: none.task })).toEqual({ attempt: undefined, mixed: 0, stdout: 0, stderr: 0 })
  const of = await store([[OUT, 'abc']])
  expect(await readOutput(db.pool, { ...of, start: 100 })).toMatchObject({ next: 100, isEnd: true, runs: [] })
  expect(await readOutput(db.pool, { ...of, stream: 'stderr' })).toMatchObject({ next: 0, isEnd: true })
})

test('without an attempt the latest one is read', async () => {
  const { task } = await store([[OUT, 'first']])
  await store([[OUT, 'second']], { task, attempt: 3 })
  expect(await textOf({ task })).toBe('second')
  expect(await textOf({ task, attempt: 1 })).toBe('first')
  expect(await outputSize(db.pool, { task })).toMatchObject({ attempt: 3, mixed: 6 })
})

test('of output beyond the limit the beginning and the end are kept in every view, with what is missing between', async () => {
  const of = await store(
    [
      [OUT, 'x'.repeat(1500)],
      [ERR, 'y'.repeat(1000)],
      [OUT, 'z'.repeat(5000)],
      [ERR, 'e'.repeat(100)],
      [OUT, 'the end\n'],
    ],
    { limitBytes: 2048 },
  )
  const cut = '\n[millrace: output cut after 2 KiB; its last 512 bytes follow when the command has ended]'
  const [out, err] = [missing(4596, OUT), missing(452, ERR)]
  const z = 'z'.repeat(404)
  expect(await textOf(of)).toBe(
    `${'x'.repeat(1500)}${'y'.repeat(548)}${cut}${out}${err}${z}${'e'.repeat(100)}the end\n`,
  )
  expect(await textOf(of, 'stdout')).toBe(`${'x'.repeat(1500)}${out}${z}the end\n`)
  expect(await textOf(of, 'stderr')).toBe(`${'y'.repeat(548)}${err}${'e'.repeat(100)}`)
  const { runs } = await readOutput(db.pool, of)
  expect(runs.map(({ stream, length }) => [stream, length])).toEqual([
    [OUT, 1500],
    [ERR, 548],
    ['mark', cut.length + out.length + err.length],
    [OUT, 404],
    [ERR, 100],
    [OUT, 8],
  ])
})

const missing = (bytes: number, stream: OutputStream) => `\n[millrace: ${bytes} bytes of ${stream} are missing here]\n`

test('output as long as what is kept of both ends has no mark', async () => {
  for (const length of [1999, 2000, 2001, 2400, 2500]) {
    const text = Array.from({ length }, (_, i) => i % 10).join('')
    const of = await store(
      [
        [OUT, text.slice(0, 700)],
        [ERR, text.slice(700, 2100)],
        [OUT, text.slice(2100)],
      ],
      { limitBytes: 2000 },
    )
    expect(await textOf(of)).toBe(text)
    expect(await textOf(of, 'stderr')).toBe(text.slice(700, 2100))
  }
})

test('the end that is kept does not depend on how its bytes came, and is read by lines and found in every view', async () => {
  let seed = 11
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const lines = Array.from({ length: 4000 }, (_, i): Write => [random(3) === 0 ? ERR : OUT, `line ${i}\n`])
  const single = lines.flatMap(([stream, text]) => (text as string).split('').map((one): Write => [stream, one]))
  const of = await store(lines, { limitBytes: 10_000 })
  const texts = Object.fromEntries(
    await Promise.all(VIEWS.map(async (view) => [view, await textOf(of, view)] as const)),
  )
  const again = await store(single, { limitBytes: 10_000 })
  for (const view of VIEWS) {
    const text = texts[view] as string
    expect(await textOf(again, view)).toBe(text)
    const shown = text.split('\n').slice(0, -1)
    const at = { ...of, stream: view }
    const { lines: last, total } = await readLines(db.pool, at, { from: -5, limit: 10 })
    expect(total).toBe(shown.length)
    expect(last.map((line) => line.text)).toEqual(shown.slice(-5))
    const found = await searchLines(db.pool, at, {
      query: 'bytes of',
      isRegex: false,
      isCaseSensitive: true,
      from: 1,
      limit: 10,
    })
    expect(found.lines.map(({ number, stream }) => [shown[number - 1]?.endsWith('are missing here]'), stream])).toEqual(
      Array(view === 'mixed' ? 2 : 1).fill([true, 'mark']),
    )
    const middle = (found.lines[0]?.number ?? 0) - 2
    const page = await readLines(db.pool, at, { from: middle, limit: 6 })
    expect(page.lines.map((line) => line.text)).toEqual(shown.slice(middle - 1, middle + 5))
    for (const start of [0, 5, 9990, text.length - 40]) {
      const piece = await readOutput(db.pool, { ...at, start, limit: 300 })
      expect(piece.bytes.toString()).toBe(text.slice(start, start + 300))
    }
  }
})

test('the mark of a cut is readable while the command goes on, and one who follows gets the end behind it', async () => {
  const of = aTask()
  const writer = createOutputWriter({ pool: db.pool, ...of, limitBytes: 1024 })
  await writer.write(OUT, Buffer.alloc(1280, 'x'))
  await writer.flush()
  expect((await outputSize(db.pool, of)).mixed).toBe(1024)
  await writer.write(OUT, Buffer.from('y'))
  await writer.flush()
  const mark = '\n[millrace: output cut after 1 KiB; its last 256 bytes follow when the command has ended]'
  let hasEnded = false
  let text = ''
  for await (const { bytes } of followOutput(db.pool, { ...of, start: 1024, hasEnded: () => hasEnded, pollMs: 10 })) {
    text += bytes.toString()
    if (text !== mark) continue
    await writer.write(OUT, Buffer.from('the end'))
    await writer.close()
    hasEnded = true
  }
  expect(text).toBe(`${mark}${missing(8, OUT)}${'x'.repeat(248)}ythe end`)
})

test('secrets are masked before they are stored, in each stream and across writes', async () => {
  const of = await store(
    [
      [OUT, 'token: hun'],
      [ERR, 'also hunter'],
      [OUT, 'ter2\n'],
      [ERR, '2 and hunt'],
    ],
    { mask: ['hunter2'] },
  )
  expect(await textOf(of, 'stdout')).toBe('token: ***\n')
  expect(await textOf(of, 'stderr')).toBe('also *** and hunt')
  const { rows } = await db.pool.query('select bytes from millrace.output where task = $1', [of.task])
  expect(Buffer.concat(rows.map((row) => row.bytes)).toString()).not.toContain('hunter2')
})

test('a line becomes readable by itself, without flush', async () => {
  const of = aTask()
  let told = 0
  const writer = createOutputWriter({ pool: db.pool, ...of, onStored: (size) => (told = size) })
  await writer.write(OUT, Buffer.from('hello\n'))
  await waitFor(() => (told === 6 ? true : undefined))
  expect(await textOf(of)).toBe('hello\n')
  await writer.close()
})

test('who writes faster than the database waits', async () => {
  const of = aTask()
  const pool = { query: () => new Promise(() => {}) } as unknown as OutputWriterOptions['pool']
  const given = new AbortController()
  const writer = createOutputWriter({ ...of, pool, signal: given.signal })
  const answers: (Promise<void> | void)[] = []
  while (answers.at(-1) === undefined) answers.push(writer.write(OUT, Buffer.alloc(64 * 1024)))
  expect(answers).toHaveLength(17) // more than a megabyte
  let isOver = false
  const waits = Promise.resolve(answers.at(-1)).then(() => {
    isOver = true
  })
  await turn()
  expect(isOver).toBe(false)
  // Nobody wants it any more: neither the writer nor its closing waits for a database that does not answer.
  given.abort()
  await waits
  await writer.write(OUT, Buffer.alloc(10_000_000))
  expect(await writer.close()).toEqual({ mixed: 0, stdout: 0, stderr: 0 })
})

test('output that cannot be stored is told of', async () => {
  const writer = createOutputWriter({ pool: db.pool, task: 'no number', attempt: 1 })
  await writer.write(OUT, Buffer.from('x'))
  await expect(writer.flush()).rejects.toMatchObject({ code: '22P02' })
  await expect(Promise.resolve(writer.write(OUT, Buffer.from('y')))).rejects.toMatchObject({ code: '22P02' })
  await expect(writer.close()).rejects.toMatchObject({ code: '22P02' })
})

test('a writer that died is followed by one that is given everything again, and nothing is lost or doubled', async () => {
  const writes: Write[] = Array.from({ length: 200 }, (_, i) => [i % 3 === 0 ? ERR : OUT, `line ${i} of hunter2\n`])
  const whole = await textOf(await store(writes, { mask: ['hunter2'] }))
  for (const died of [0, 1, 57, 199, 200]) {
    const of = aTask()
    const options = { pool: db.pool, ...of, mask: ['hunter2'] }
    const first = createOutputWriter(options)
    for (const [stream, text] of writes.slice(0, died)) await first.write(stream, Buffer.from(text))
    await first.flush()
    const second = await resumeOutputWriter(options)
    for (const [stream, text] of writes) await second.write(stream, Buffer.from(text))
    await second.close()
    expect(await textOf(of)).toBe(whole)
  }
})

test('a resumed writer stores the end of what was cut once, wherever the one before it died', async () => {
  const options = () => ({ pool: db.pool, ...aTask(), limitBytes: 1000 })
  const writes = Array.from({ length: 40 }, (_, i): Write => [i % 3 === 0 ? ERR : OUT, `${i} `.repeat(25)])
  const whole = await store(writes, { limitBytes: 1000 })
  const { rows } = await db.pool.query('select count(*)::int as chunks from millrace.output where task = $1', [
    whole.task,
  ])
  for (let kept = 0; kept <= rows[0].chunks; kept += 1) {
    const given = options()
    const first = createOutputWriter(given)
    for (const [stream, text] of writes) await first.write(stream, Buffer.from(text as string))
    await first.close()
    await db.pool.query(
      `delete from millrace.output where task = $1 and start not in
        (select start from millrace.output where task = $1 order by start limit $2)`,
      [given.task, kept],
    )
    const second = await resumeOutputWriter(given)
    for (const [stream, text] of writes) await second.write(stream, Buffer.from(text as string))
    await second.close()
    await second.close()
    for (const view of VIEWS) expect(await textOf(given, view), `${kept} ${view}`).toBe(await textOf(whole, view))
  }
})

test('reading a range touches a few pages, wherever it lies in however long an output', async () => {
  const of = await store([
    [OUT, 'x'.repeat(40_000_000)],
    [ERR, 'y'],
  ])
  for (const analyzed of [false, true]) {
    if (analyzed) await db.pool.query('vacuum analyze millrace.output')
    for (const name of ['storage.read_mixed', 'storage.read_stdout', 'storage.read_stderr', 'storage.measure']) {
      const { text = '', parameters = [] } = registry.get(name) ?? {}
      for (const from of [0, 20_000_000, 39_999_000]) {
        const values = { ...of, from, before: from + 1000, limit: 512 } as Record<string, unknown>
        const { rows } = await db.pool.query(
          `explain (analyze, buffers, format json) ${text}`,
          parameters.map(([key]) => values[key]),
        )
        const plan = rows[0]['QUERY PLAN'][0]['Plan']
        expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(40)
      }
    }
  }
})
