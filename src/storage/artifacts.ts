// Files that tasks leave behind, kept in the database like what they print: a worker on any machine writes them, every
// server reads them. Their bytes are stored while the attempt is under way; that they are the task's is written in the
// transaction of its outcome.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Db, Pool } from '../db/index.ts'
import {
  deleteArtifacts,
  deleteLoosePieces,
  deletePieces,
  deleteUpload,
  deleteUploads,
  insertArtifacts,
  insertPiece,
  insertUpload,
  listStaleUploads,
  readPiece,
  readArtifact as selectArtifact,
  listArtifacts as selectArtifacts,
} from './artifacts.sql.ts'
import type { OutputOf } from './output.ts'
import { patiently } from './patiently.ts'

const PIECE_BYTES = 1024 * 1024

/** A file whose bytes are stored and that belongs to no outcome yet. */
export type StoredFile = {
  readonly path: string
  readonly size: number
  /** SHA-256. */
  readonly digest: Buffer
  readonly isExecutable: boolean
}

export type Artifact = StoredFile & {
  readonly task: string
  readonly createdAt: Date
  /** Where its bytes are. */
  readonly attempt: number
  readonly number: number
}

export type StoreFileOptions = OutputOf & {
  readonly pool: Pool
  /** The file on this machine; a link is refused. */
  readonly file: string
  readonly path: string
  /** Its place among the files of the attempt. */
  readonly number: number
  readonly signal: AbortSignal
}

/** What is to be stored is no file that can be read. */
export class FileUnusable extends Error {
  readonly code = 'file_unusable'
}

/** Stores the bytes of a file, waiting while the database is away. Throws `FileUnusable`. */
export async function storeFile(options: StoreFileOptions): Promise<StoredFile> {
  const { pool, task, attempt, number, path, signal } = options
  // Whoever wrote the file may have put something else in its place: no link is followed, and no pipe waited for.
  const handle = await open(options.file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw new FileUnusable(`${path} cannot be read: ${error.code ?? error.message}`)
    },
  )
  try {
    const facts = await handle.stat()
    if (!facts.isFile()) throw new FileUnusable(`${path} is no plain file`)
    const hash = createHash('sha256')
    let start = 0
    for await (const bytes of piecesOf(handle)) {
      signal.throwIfAborted()
      hash.update(bytes)
      const at = String(start)
      await patiently(signal, () => insertPiece(pool, { task, attempt, number, start: at, bytes }))
      start += bytes.length
    }
    signal.throwIfAborted()
    return { path, size: start, digest: hash.digest(), isExecutable: (facts.mode & 0o111) !== 0 }
  } finally {
    await handle.close()
  }
}

async function* piecesOf(handle: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** Makes stored files the task's, in the transaction of its outcome, instead of those it had. They are numbered in order. */
export async function keepArtifacts(db: Db, of: OutputOf, files: readonly StoredFile[]): Promise<void> {
  await deleteArtifacts(db, { task: of.task })
  if (files.length > 0) {
    await insertArtifacts(db, {
      ...of,
      paths: files.map(({ path }) => path),
      sizes: files.map(({ size }) => String(size)),
      digests: files.map(({ digest }) => digest),
      executables: files.map(({ isExecutable }) => isExecutable),
    })
  }
  await dropLooseFiles(db, of.task)
}

/** Says that an attempt is going to store files: they are found when it does not come to an end. */
export async function beginFiles(pool: Pool, of: OutputOf, signal: AbortSignal): Promise<void> {
  await patiently(signal, () => insertUpload(pool, of))
  signal.throwIfAborted()
}

/** Removes what attempts of a task have stored that came to nothing. */
export async function dropLooseFiles(db: Db, task: string): Promise<void> {
  await deleteLoosePieces(db, { task })
  await deleteUploads(db, { task })
}

/** Removes what an attempt that came to nothing has stored. */
export async function dropFiles(db: Db, of: OutputOf): Promise<void> {
  await deletePieces(db, of)
  await deleteUpload(db, of)
}

const UPLOADS_AT_ONCE = 100

/** Removes what attempts have stored whose worker died or could not remove it. Answers of how many attempts. */
export async function sweepFiles(db: Db): Promise<number> {
  for (let count = 0; ; ) {
    const stale = await listStaleUploads(db, { limit: UPLOADS_AT_ONCE })
    for (const of of stale) await dropFiles(db, of)
    count += stale.length
    if (stale.length < UPLOADS_AT_ONCE) return count
  }
}

export type ListArtifacts = { readonly tasks: readonly string[]; readonly after?: number; readonly limit: number }

/** The artifacts of tasks, in the order in which they were stored. `after` is the number of the last that was seen. */
export async function listArtifacts(db: Db, { tasks, after = -1, limit }: ListArtifacts): Promise<Artifact[]> {
  const rows = await selectArtifacts(db, { tasks, after, limit })
  return rows.map(toArtifact)
}

export async function findArtifact(db: Db, task: string, path: string): Promise<Artifact | undefined> {
  const row = await selectArtifact(db, { task, path })
  return row && toArtifact(row)
}

/** The bytes of an artifact from `start` up to `end`, piece by piece. Throws when it was replaced meanwhile. */
export async function* readArtifact(
  db: Db,
  artifact: Artifact,
  { start = 0, end = artifact.size }: { readonly start?: number; readonly end?: number } = {},
): AsyncGenerator<Buffer, void> {
  const { task, attempt, number, path } = artifact
  for (let at = start; at < end; ) {
    const piece = await readPiece(db, { task, attempt, number, at: String(at) })
    const offset = piece === undefined ? 0 : at - Number(piece.start)
    const bytes = piece?.bytes.subarray(offset, offset + (end - at)) ?? Buffer.alloc(0)
    if (bytes.length === 0) throw new Error(`artifact ${path} of task ${task} was replaced while it was read`)
    yield bytes
    at += bytes.length
  }
}

const toArtifact = (row: Awaited<ReturnType<typeof selectArtifacts>>[number]): Artifact => ({
  task: row.task,
  attempt: row.attempt,
  number: row.number,
  path: row.path,
  size: Number(row.size),
  digest: row.digest,
  isExecutable: row.is_executable,
  createdAt: row.created_at,
})
