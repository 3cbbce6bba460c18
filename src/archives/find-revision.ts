import type { Db } from '../db/index.ts'
import { findArchive } from './archives.sql.ts'
import { ArchiveNotFound, RevisionNotPlanned } from './errors.ts'
import { findRevision } from './runs.sql.ts'

export type Found = { readonly archive: string; readonly number: number }

/** A planned revision by number or id; without either, the newest. Throws `ArchiveNotFound` and `RevisionNotPlanned`. */
export async function findPlanned(db: Db, archive: string, rev: number | string | undefined): Promise<Found> {
  const number = typeof rev === 'number' ? String(rev) : null
  const found = await findRevision(db, { archive, number, id: typeof rev === 'string' ? rev : null })
  if (found !== undefined) return { archive: found.archive, number: Number(found.number) }
  const row = await findArchive(db, { name: archive })
  if (row === undefined || row.state === 'removed') throw new ArchiveNotFound(archive)
  const planned = { first: Number(row.first_number), last: Number(row.planned_number) }
  throw new RevisionNotPlanned(archive, rev ?? planned.last, planned)
}
