import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Claim, figure, figures, freshStore, quantile, type Verdict } from '../harness/bench.ts'
import { type Server, startServer } from '../harness/server.ts'

const MEDIAN = 'commit to client, p50'
const TAIL = 'commit to client, p99'
const MEMORY = 'memory per open stream'
const ALL = 'commit to the last of all streams'
const IDLE = 'processor time with all streams open and nothing to tell'

const MEDIAN_MS = 50
const MEMORY_KB = 64

type Event = { name: string; scope: string; detail: unknown }
type Library = { publish(db: pg.Pool, event: Event): Promise<void> }

/** Loaded by its path, so that this file is checked before the library is built. */
const library = (): Promise<Library> => import(join(import.meta.dirname, '..', '..', 'dist', 'index.js'))

/** A stream that calls back with the detail of each event. */
function openStream(server: Server, onEvent: (detail: { number: number }) => void): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`the stream was closed: ${text.slice(0, 300)}`)))
    socket.on('data', (piece) => {
      text += piece
      if (text.includes('event: hello')) resolve(socket)
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const json = /^data: (\{"id".*)$/m.exec(text.slice(0, end))?.[1]
        text = text.slice(end + 2)
        if (json !== undefined) onEvent(JSON.parse(json).detail)
      }
    })
    const headers = Object.entries({ host: 'bench', ...server.headers }).map(([name, value]) => `${name}: ${value}`)
    socket.write(`GET /v1/events?scope=bench HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  })
}

/** Tells one event after another, and how long each took from its commit to the client. */
async function sampleOne(server: Server, tell: (number: number) => Promise<void>, samples: number): Promise<number[]> {
  const arrived = new Map<number, (at: number) => void>()
  const stream = await openStream(server, ({ number }) => arrived.get(number)?.(performance.now()))
  const found: number[] = []
  for (let number = 0; number < samples; number++) {
    const arrival = new Promise<number>((resolve) => arrived.set(number, resolve))
    await tell(number)
    const committedAt = performance.now()
    found.push(Math.max(0, (await arrival) - committedAt))
    // At no fixed distance: a reader that looks at fixed times must not be met at one of them.
    await sleep(Math.random() * 200)
  }
  stream.destroy()
  return found
}

const residentKb = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN)

/** Milliseconds of processor time that the process has used. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function sampleMany(server: Server, tell: (number: number) => Promise<void>, count: number) {
  const before = residentKb(server.pid)
  let told = 0
  let onAll: () => void = () => {}
  const streams: Socket[] = []
  for (let i = 0; i < count; i += 50) {
    const some = Array.from({ length: Math.min(50, count - i) }, () =>
      openStream(server, () => {
        told += 1
        if (told === count) onAll()
      }),
    )
    streams.push(...(await Promise.all(some)))
  }
  const memoryKb = (residentKb(server.pid) - before) / count
  const usedMs = processorMs(server.pid)
  await sleep(5_000)
  const idlePercent = (processorMs(server.pid) - usedMs) / 50
  const all = new Promise<void>((resolve) => {
    onAll = resolve
  })
  await tell(-1)
  const committedAt = performance.now()
  await Promise.race([all, sleep(30_000)])
  const allMs = performance.now() - committedAt
  for (const stream of streams) stream.destroy()
  return { memoryKb, idlePercent, allMs, told }
}

const atMost = (bar: string, value: number, most: number, unit: string): Verdict => ({
  bar,
  reached: Number.isNaN(value) ? 'not measured' : `${figure(value)} ${unit}`,
  held: Number.isNaN(value) ? null : value <= most,
})

export const events: Claim = {
  name: 'events',
  about: 'events over SSE: from the commit to the client, and many streams held open',
  async measure(bench) {
    const found = figures()
    const { samples, streams } = bench.sizes
    let fewest = streams
    for (let round = 1; round <= bench.rounds && bench.takesPart('millrace'); round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      const url = await freshStore(bench, 'millrace')
      const { publish } = await library()
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      const tell = (number: number) => publish(pool, { name: 'bench.told', scope: 'bench', detail: { number } })
      const server = await startServer(url, { MILLRACE_RATE_LIMIT: '0' })
      try {
        const ms = await sampleOne(server, tell, samples)
        found.note('millrace', MEDIAN, 'ms', quantile(ms, 0.5))
        found.note('millrace', TAIL, 'ms', quantile(ms, 0.99))
        const many = await sampleMany(server, tell, streams)
        found.note('millrace', MEMORY, 'KB', many.memoryKb)
        found.note('millrace', ALL, 'ms', many.allMs)
        found.note('millrace', IDLE, '% of one core', many.idlePercent)
        fewest = Math.min(fewest, many.told)
      } finally {
        await server.stop()
        await pool.end()
      }
    }
    const wasMeasured = found.rows.length > 0
    return {
      claim: `${events.about} (${samples} samples, ${streams} streams)`,
      rows: found.rows,
      verdicts: [
        atMost(`p50 <= ${MEDIAN_MS} ms`, found.of('millrace', MEDIAN), MEDIAN_MS, 'ms'),
        { bar: `all ${streams} streams are told`, reached: `${fewest}`, held: wasMeasured ? fewest === streams : null },
        atMost(`memory per stream <= ${MEMORY_KB} KB`, found.of('millrace', MEMORY), MEMORY_KB, 'KB'),
      ],
      notes: ['No peer takes part: none of them serves events over HTTP. The teller commits in another process.'],
    }
  },
}
