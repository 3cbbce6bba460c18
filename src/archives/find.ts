import type { Db } from '../db/index.ts'
import { type Archive, toArchive } from './archive.ts'
import { findArchive, listArchives } from './archives.sql.ts'
import { ArchiveNotFound } from './errors.ts'

/** The archive of that name. Throws `ArchiveNotFound`, also for one that was removed. */
export async function find(db: Db, name: string): Promise<Archive> {
  // What the database cannot hold is the name of nothing.
  const row = name.includes('\u0000') ? undefined : await findArchive(db, { name })
  if (row === undefined || row.state === 'removed') throw new ArchiveNotFound(name)
  return toArchive(row)
}

/** Archives by name. */
export async function list(db: Db, page: { after: string; limit: number }): Promise<Archive[]> {
  return (await listArchives(db, page)).map(toArchive)
}
