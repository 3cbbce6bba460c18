// The workflow files of a revision: read from the repository, kept once under their hash, understood once.
import { createHash } from 'node:crypto'
import type { Db } from '../db/index.ts'
import { type Change, collect, type Repository, type Revision } from '../vcs/index.ts'
import { type Definition, isWorkflowPath, readDefinition } from './definition/read-definition.ts'
import type { FileBytes } from './definition/source.ts'
import { readDefinitionFiles, storeDefinition } from './planning.sql.ts'

const FOLDER = '_workflows'
const MOST_FILES = 51 // one more than a definition may have: the check says the rest
const MOST_BYTES = 128 * 1024 + 1
const AT_ONCE = 4
const MOST_KEPT = 200

export type Defined = { readonly hash: Buffer; readonly files: readonly FileBytes[]; readonly definition: Definition }

const understood = new Map<string, Defined>()

/** The same files are understood once. */
export function define(files: readonly FileBytes[]): Defined {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const hash = createHash('sha256')
  for (const { path, bytes } of sorted) hash.update(`${Buffer.byteLength(path)} ${bytes.length} ${path}`).update(bytes)
  const digest = hash.digest()
  const key = digest.toString('hex')
  const known = understood.get(key)
  if (known !== undefined) return known
  const defined = { hash: digest, files: sorted, definition: readDefinition(sorted) }
  const [oldest] = understood.keys()
  if (understood.size >= MOST_KEPT && oldest !== undefined) understood.delete(oldest)
  understood.set(key, defined)
  return defined
}

/** Whether a revision may have changed the workflow files. A folder that came or went stands for all below it. */
export function mayChangeWorkflows(changes: readonly Change[]): boolean {
  return changes.some(
    ({ path, kind }) => isWorkflowPath(path) || path === '' || path === FOLDER || (kind === 'link' && path === FOLDER),
  )
}

export async function readWorkflows(repository: Repository, revision: Revision): Promise<Defined> {
  const entries = await collect(repository.list(FOLDER, revision))
  const wanted = entries
    .filter(({ path, kind }) => kind === 'file' && isWorkflowPath(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, MOST_FILES)
  const files: FileBytes[] = []
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE).map(async ({ path, size = 0 }) => ({
      path,
      // What is too large is not read; that it is, the check finds out by itself.
      bytes: size > MOST_BYTES ? Buffer.alloc(MOST_BYTES, ' ') : await repository.read(path, revision),
    }))
    files.push(...(await Promise.all(some)))
  }
  return define(files)
}

type StoredFile = { readonly path: string; readonly text?: string; readonly base64?: string }

export async function storeFiles(db: Db, { hash, files }: Defined): Promise<void> {
  const stored = files.map(({ path, bytes }): StoredFile => {
    const buffer = Buffer.from(bytes)
    const text = buffer.toString('utf8')
    const isPlain = !text.includes('\u0000') && Buffer.from(text).equals(buffer)
    return isPlain ? { path, text } : { path, base64: buffer.toString('base64') }
  })
  await storeDefinition(db, { hash, files: JSON.stringify(stored) })
}

export async function loadFiles(db: Db, hash: Buffer): Promise<Defined> {
  const known = understood.get(hash.toString('hex'))
  if (known !== undefined) return known
  const row = await readDefinitionFiles(db, { hash })
  const files = (row?.files ?? []) as readonly StoredFile[]
  return define(
    files.map(({ path, text, base64 }) => ({
      path,
      bytes: base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64'),
    })),
  )
}
