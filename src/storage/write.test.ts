import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { waitFor } from '../../test/processes.ts'
import { registry } from '../db/index.ts'
import {
  createOutputWriter,
  type OutputPiece,
  type OutputStream,
  type OutputWriterOptions,
  outputSize,
  readOutput,
  resumeOutputWriter,
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

test('output beyond the limit is dropped, with a mark at the cut', async () => {
  const of = await store(
    [
      [OUT, 'x'.repeat(1500)],
      [ERR, 'y'.repeat(1000)],
      [OUT, 'z'.repeat(5000)],
    ],
    { limitBytes: 2048 },
  )
  const mark = '\n[millrace: output cut at 2 KiB; 5452 bytes more were dropped]\n'
  expect(await textOf(of)).toBe('x'.repeat(1500) + 'y'.repeat(548) + mark)
  expect(await textOf(of, 'stdout')).toBe('x'.repeat(1500))
  const { runs } = await readOutput(db.pool, of)
  expect(runs.at(-1)).toEqual({ stream: 'mark', length: mark.length })
  const exact = await store([[OUT, 'x'.repeat(2048)]], { limitBytes: 2048 })
  expect(await textOf(exact)).toBe('x'.repeat(2048))
})

test('the mark of a cut is readable while the command goes on', async () => {
  const of = aTask()
  const writer = createOutputWriter({ pool: db.pool, ...of, limitBytes: 1024 * 1024 })
  await writer.write(OUT, Buffer.alloc(1024 * 1024 + 1))
  await writer.flush()
  const { bytes } = await readOutput(db.pool, { ...of, start: 1024 * 1024 })
  expect(bytes.toString()).toBe('\n[millrace: output cut at 1 MiB')
  await writer.close()
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

test('a resumed writer completes the mark of a cut once', async () => {
  const of = aTask()
  const options = { pool: db.pool, ...of, limitBytes: 1000 }
  const first = createOutputWriter(options)
  await first.write(OUT, Buffer.alloc(1500, 'x'))
  await first.flush()
  for (let round = 0; round < 2; round += 1) {
    const again = await resumeOutputWriter(options)
    await again.write(OUT, Buffer.alloc(1700, 'x'))
    await again.close()
  }
  expect(await textOf(of)).toBe(
    `${'x'.repeat(1000)}\n[millrace: output cut at 1000 bytes; 700 bytes more were dropped]\n`,
  )
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
