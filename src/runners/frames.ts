// What the server and keeper.pl say to each other: see there.
import type { CheckedCommand } from './command.ts'
import type { Stream } from './runner.ts'

const HEADER_BYTES = 5
const NOTHING = Buffer.alloc(0)

/** A whole frame, or of output as much as has come: it does not matter where it is cut. */
export type Frame =
  | { readonly type: 'output'; readonly stream: Stream; readonly bytes: Buffer }
  | { readonly type: 'H' | 'F' | 'X'; readonly payload: Buffer }

export class FrameReader {
  #pending: Buffer = NOTHING
  #output: { stream: Stream; left: number } | undefined

  /** Throws when the bytes are not what a keeper says. */
  read(chunk: Buffer): Frame[] {
    const frames: Frame[] = []
    let data = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk
    for (;;) {
      if (this.#output !== undefined) {
        const bytes = data.subarray(0, this.#output.left)
        if (bytes.length > 0) frames.push({ type: 'output', stream: this.#output.stream, bytes })
        data = data.subarray(bytes.length)
        this.#output.left -= bytes.length
        if (this.#output.left > 0) break
        this.#output = undefined
      }
      if (data.length < HEADER_BYTES) break
      const type = String.fromCharCode(data.readUInt8(0))
      const length = data.readUInt32BE(1)
      if (type === 'O' || type === 'E') {
        this.#output = { stream: type === 'O' ? 'stdout' : 'stderr', left: length }
        data = data.subarray(HEADER_BYTES)
      } else {
        if ((type !== 'H' && type !== 'F' && type !== 'X') || length > 4096) throw new Error('this is no keeper')
        if (data.length < HEADER_BYTES + length) break
        frames.push({ type, payload: data.subarray(HEADER_BYTES, HEADER_BYTES + length) })
        data = data.subarray(HEADER_BYTES + length)
      }
    }
    this.#pending = data
    return frames
  }
}

export function encodeCommand(command: CheckedCommand, added: Readonly<Record<string, string>>): Buffer {
  const { memoryBytes, cpuSeconds, processes, openFiles, fileSizeBytes } = command.limits
  const limits = [memoryBytes, cpuSeconds, processes, openFiles, fileSizeBytes]
  const fields = [
    command.marker,
    command.cwd,
    String(command.umask),
    String(command.graceMs),
    ...limits.map((limit) => String(limit ?? '')),
    String(command.argv.length),
    ...command.argv,
    ...Object.entries({ ...command.env, ...added }).flat(),
  ]
  const body = Buffer.concat(fields.flatMap((field) => withLength(Buffer.from(field))))
  return Buffer.concat([Buffer.from('C'), ...withLength(body)])
}

export function encodeStop(graceMs: number): Buffer {
  const frame = Buffer.from('S\0\0\0\0')
  frame.writeUInt32BE(Math.min(Math.max(0, Math.floor(graceMs)), 0xffff_ffff), 1)
  return frame
}

function withLength(bytes: Buffer): [Buffer, Buffer] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return [length, bytes]
}
