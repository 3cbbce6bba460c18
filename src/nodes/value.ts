// Reading data by pieces. Offsets are bytes of UTF-8, and a piece ends between two characters.
import type { Db } from '../db/index.ts'
import { readOutput } from '../storage/index.ts'
import { readKeys, readValue as readStored } from './data.sql.ts'
import { KeyNotFound, PidGone } from './errors.ts'
import { isEnded, type NodeId, toMetadata } from './node.ts'
import { placeOf } from './read.ts'
import { attemptOf, hasOutput, isStreamKey, resultsOf, type StreamKey, streams } from './results.ts'
import { isResultKey } from './spec.ts'
import { findNode, type NodeRow, versionOf } from './tree.ts'

export type PieceOptions = {
  readonly start?: number | undefined
  /** Which value is meant; must be given with `start`. */
  readonly pid?: string | undefined
  readonly limit: number
  readonly encoding: 'utf-8' | 'base64'
}

export type Pagination = { readonly next: string; readonly pid: string }

export type Piece = {
  readonly data: unknown
  /** There is more, or may be. */
  readonly pagination?: Pagination
  /** Which value this is. */
  readonly pid: string
  /** False: more may be added to it under the same pid. */
  readonly isStable: boolean
}

/**
 * The value under a key: of a text the piece from `start` on, anything else as a whole. Throws `KeyNotFound`, and
 * `PidGone` when the value that the pid names was replaced.
 */
export async function readValue(db: Db, id: NodeId, key: string, options: PieceOptions): Promise<Piece> {
  const row = await findNode(db, id)
  if (isStreamKey(key)) return readStream(db, row, key, options)
  if (isResultKey(key) || key === 'run_if' || key === 'branch') {
    const all: Record<string, unknown> = { ...placeOf(row), ...resultsOf(row, toMetadata(row)) }
    if (all[key] === undefined) throw new KeyNotFound(id, key)
    return pieceOf(all[key], versionOf(row), options)
  }
  const found = await readStored(db, { node: id, key, start: String(options.start ?? 0), limit: options.limit })
  if (found === undefined) throw new KeyNotFound(id, key)
  requirePid(found.version, options)
  if (!found.is_text) return { data: found.value, pid: found.version, isStable: true }
  const { start = 0 } = options
  const piece = cut(found.piece ?? Buffer.alloc(0), start + options.limit >= (found.size ?? 0))
  return toPiece(piece, { start, pid: found.version, hasMore: start + piece.length < (found.size ?? 0) }, options)
}

function pieceOf(value: unknown, pid: string, options: PieceOptions): Piece {
  requirePid(pid, options)
  if (typeof value !== 'string') return { data: value, pid, isStable: true }
  const { start = 0, limit } = options
  const bytes = Buffer.from(value)
  const piece = cut(bytes.subarray(start, start + limit), start + limit >= bytes.length)
  return toPiece(piece, { start, pid, hasMore: start + piece.length < bytes.length }, options)
}

/** Output may still grow while the node runs: then there is always a next piece, if an empty one. */
async function readStream(db: Db, row: NodeRow, key: StreamKey, options: PieceOptions): Promise<Piece> {
  if (!hasOutput(row)) throw new KeyNotFound(row.id, key)
  const attempt = attemptOf(row)
  const pid = `o${attempt}`
  requirePid(pid, options)
  const { start = 0, limit } = options
  const { bytes, isEnd } = await readOutput(db, {
    task: row.task,
    attempt,
    stream: streams[key],
    start,
    limit,
  })
  const isOver = isEnded(toMetadata(row).state)
  const piece = options.encoding === 'base64' ? bytes : cut(bytes, isEnd && isOver)
  return toPiece(
    piece,
    { start, pid, hasMore: !isOver || !isEnd || piece.length < bytes.length, isStable: false },
    options,
  )
}

type Place = { readonly start: number; readonly pid: string; readonly hasMore: boolean; readonly isStable?: boolean }

function toPiece(bytes: Buffer, { start, pid, hasMore, isStable = true }: Place, { encoding }: PieceOptions): Piece {
  const data = encoding === 'base64' ? bytes.toString('base64') : bytes.toString()
  return { data, pid, isStable, ...(hasMore ? { pagination: { next: String(start + bytes.length), pid } } : {}) }
}

function requirePid(pid: string, options: PieceOptions): void {
  if (options.pid !== undefined && options.pid !== pid) throw new PidGone('the value was replaced since')
}

/** Without a character at the end of which only a part is there, unless nothing follows. */
function cut(bytes: Buffer, isWhole: boolean): Buffer {
  if (isWhole) return bytes
  // A character has at most four bytes: the beginning of the last one lies among the last four.
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at -= 1) {
    const byte = bytes[at] as number
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return at + length > bytes.length ? bytes.subarray(0, at) : bytes
  }
  return bytes
}

export type KeysOptions = { readonly after?: string | undefined; readonly limit: number }
export type Keys = { readonly keys: readonly string[]; readonly hasMore: boolean }

/** The keys of the data, the server's own included, in the order of their bytes. */
export async function listKeys(db: Db, id: NodeId, { after = '', limit }: KeysOptions): Promise<Keys> {
  const row = await findNode(db, id)
  const stored = (await readKeys(db, { node: id, after, limit: limit + 1 })).map(({ key }) => key)
  const derived = [
    ...Object.keys({ ...placeOf(row), ...resultsOf(row, toMetadata(row)) }),
    ...(hasOutput(row) ? Object.keys(streams) : []),
  ].filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
  const keys = [...stored, ...derived].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return { keys: keys.slice(0, limit), hasMore: keys.length > limit }
}
