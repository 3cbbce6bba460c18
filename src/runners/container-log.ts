// Where a container's output is read from. Podman's monitor writes it into a file on this host, and that file is the
// truth: `podman logs --follow` was seen to leave out the end of what a container wrote quickly. Docker, and a podman on
// another host, are asked through their command line.
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerEngine, Inspected } from './container-engine.ts'
import type { Delivery } from './delivery.ts'
import type { Stream } from './runner.ts'

const LOOK_MS = 100
const READ_BYTES = 64 * 1024
const NEWLINE = Buffer.from('\n')

export type LogSource = {
  readonly engine: ContainerEngine
  readonly container: Inspected
  readonly delivery: Delivery
  /** Whether the container has ended, hence nothing is added any more. */
  readonly hasEnded: () => boolean
  /** Aborted when nobody wants the output any more. */
  readonly signal: AbortSignal
}

/** Hands over the container's output from its beginning; resolves when it has ended and all of it was handed over. */
export async function readLog(source: LogSource): Promise<void> {
  const file = source.container.logPath && (await open(source.container.logPath).catch(() => undefined))
  if (file) await readFile(file, source)
  else await readLines(source)
}

/** A gate for `Delivery`: closed while the sink is behind. */
function createGate() {
  let open = Promise.resolve()
  let release = () => {}
  return {
    pause() {
      open = new Promise((resolve) => {
        release = resolve
      })
    },
    resume: () => release(),
    pass: () => open,
  }
}

async function readFile(file: FileHandle, { delivery, hasEnded, signal }: LogSource): Promise<void> {
  const gate = createGate()
  delivery.from(gate)
  const parse = createLogParser((stream, bytes) => delivery.push(stream, bytes))
  try {
    while (!signal.aborted) {
      const isLast = hasEnded() // asked before the look: what is there when it has ended is then seen
      const buffer = Buffer.allocUnsafe(READ_BYTES)
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES)
      parse(buffer.subarray(0, bytesRead))
      await gate.pass()
      if (bytesRead > 0) continue
      if (isLast) return
      await sleep(LOOK_MS)
    }
  } finally {
    await file.close()
  }
}

/**
 * Reads lines as `<time> stdout F text`: F for a whole line, P for a part of one, which has no end of its own. The text is
 * the container's bytes as they were.
 */
export function createLogParser(push: (stream: Stream, bytes: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10)) {
      const line = data.subarray(0, end)
      data = data.subarray(end + 1)
      const afterTime = line.indexOf(32) + 1
      const head = line.toString('latin1', afterTime, afterTime + 9) // `stdout F `
      const bytes = line.subarray(afterTime + 9)
      const stream = head.startsWith('stderr') ? 'stderr' : 'stdout'
      push(stream, head[7] === 'F' ? Buffer.concat([bytes, NEWLINE]) : bytes)
    }
    rest = data
  }
}

/**
 * Follows by `logs --follow`, which may end before its time: then the output is asked for again, and of each stream is
 * passed over what was handed over before. One last round is made after the end.
 */
async function readLines({ engine, container, delivery, hasEnded, signal }: LogSource): Promise<void> {
  const done = { stdout: 0, stderr: 0 }
  while (!signal.aborted) {
    const isLast = hasEnded()
    const before = done.stdout + done.stderr
    const child = engine.spawn(['logs', ...(isLast ? [] : ['--follow']), container.id])
    const end = () => child.kill()
    signal.addEventListener('abort', end)
    await readOnce(child, delivery, done)
    signal.removeEventListener('abort', end)
    if (isLast) return
    if (done.stdout + done.stderr === before) await sleep(LOOK_MS)
  }
}

function readOnce(
  child: ReturnType<ContainerEngine['spawn']>,
  delivery: Delivery,
  done: Record<Stream, number>,
): Promise<void> {
  const skip = { ...done }
  const streams = [child.stdout, child.stderr]
  delivery.from({
    pause: () => streams.map((stream) => stream?.pause()),
    resume: () => streams.map((stream) => stream?.resume()),
  })
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (bytes: Buffer) => {
      const fresh = bytes.subarray(Math.min(skip[stream], bytes.length))
      skip[stream] -= bytes.length - fresh.length
      done[stream] += fresh.length
      if (fresh.length > 0) delivery.push(stream, fresh)
    })
  return new Promise((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
}
