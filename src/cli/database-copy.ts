// The file of a copy of the database: lines, compressed.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip, createGzip } from 'node:zlib'
import { UsageError } from './exit.ts'

/** Writes lines into a file that is there when all of them are, and for its owner alone: it holds what the database holds. */
export async function writeCopy<T>(
  path: string,
  body: (take: (line: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  // A name that nobody can have taken: what lies there already may be a link, or readable by others.
  const draft = `${path}.${randomUUID()}.part`
  const zip = createGzip()
  const file = createWriteStream(draft, { mode: 0o600, flags: 'wx' })
  const written = finished(zip.pipe(file))
  written.catch(() => {})
  try {
    const answer = await body(async (line) => {
      if (!zip.write(`${line}\n`)) await Promise.race([once(zip, 'drain'), written])
    })
    zip.end()
    await written
    await rename(draft, path)
    return answer
  } catch (error) {
    zip.destroy()
    file.destroy()
    // A file that is being opened is there only afterwards.
    if (!file.closed) await new Promise<void>((resolve) => file.once('close', resolve))
    await rm(draft, { force: true })
    throw error
  }
}

/** The lines of such a file. */
export async function* readCopy(path: string): AsyncGenerator<string> {
  const unzip = createGunzip()
  // Whatever breaks breaks the reading below, too.
  pipeline(createReadStream(path), unzip).catch(() => {})
  const decoder = new StringDecoder('utf8')
  let rest = ''
  try {
    for await (const bytes of unzip) {
      const lines = (rest + decoder.write(bytes as Buffer)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    const { message } = error as Error
    throw new UsageError(`the copy cannot be read: ${message}`, 'give the file that `millrace db export` wrote')
  }
  if (rest !== '') yield rest
}

/** Lines from one side to the other, as fast as the slower of the two. */
type LinePipe = {
  /** Throws when nobody reads any more, or the pipe was made to fail. */
  readonly take: (line: string) => Promise<void>
  readonly end: () => void
  readonly fail: (error: Error) => void
  readonly lines: AsyncIterable<string>
}

export function createLinePipe(): LinePipe {
  const pipe = new PassThrough({ objectMode: true, highWaterMark: 1000 })
  // Both sides are told of it; unheard, it would end the process.
  pipe.on('error', () => {})
  return {
    async take(line) {
      if (!pipe.destroyed && !pipe.write(line)) await untilRoom(pipe)
      if (pipe.destroyed) throw pipe.errored ?? new Error('nobody reads the copy any more')
    },
    end: () => void pipe.end(),
    fail: (error) => void pipe.destroy(error),
    lines: pipe,
  }
}

/** Resolves also when nothing is read any more. */
function untilRoom(pipe: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      pipe.off('drain', done)
      pipe.off('close', done)
      resolve()
    }
    pipe.on('drain', done)
    pipe.on('close', done)
  })
}
