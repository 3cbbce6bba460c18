// Commits that tasks made. Their marker names the task, as `My-Project@12:index`, with anything behind it after a slash
// or a space; so a chain of such commits can be counted, and ends.
import type { Db } from '../db/index.ts'
import { parseKey } from './definition/key.ts'
import { depthsOf } from './planning.sql.ts'

export type Cause = {
  readonly marker: string
  /** Null: the marker names no task that is known. */
  readonly archive: string | null
  readonly number: number | null
  readonly task: string | null
  readonly depth: number
}

type Marked = { readonly number: number; readonly marker: string | null }

/** The causes of those revisions that have one, with the depth that follows from it. */
export async function causesOf(db: Db, archive: string, revisions: readonly Marked[]): Promise<Map<number, Cause>> {
  const marked = revisions.flatMap(({ number, marker }) => (marker === null ? [] : [{ number, ...read(marker) }]))
  const causes = new Map<number, Cause>()
  if (marked.length === 0) return causes
  const named = marked.flatMap(({ key }) => (key === undefined ? [] : [key]))
  const found = await depthsOf(db, {
    archives: named.map((key) => key.archive),
    numbers: named.map((key) => String(key.number)),
  })
  const depths = new Map(found.map((row) => [`${row.number} ${row.archive}`, row.depth]))
  for (const { number, marker, key } of marked) {
    // A cause may be one of those that are planned with it.
    const own = key?.archive === archive ? causes.get(key.number)?.depth : undefined
    const depth = own ?? (key === undefined ? 0 : (depths.get(`${key.number} ${key.archive}`) ?? 0))
    const task = key?.task ?? null
    causes.set(number, { marker, archive: key?.archive ?? null, number: key?.number ?? null, task, depth: depth + 1 })
  }
  return causes
}

function read(marker: string) {
  const [first = ''] = marker.split('/')
  const key = parseKey(first)
  if (key === undefined || typeof key.rev !== 'number') return { marker, key: undefined }
  return { marker, key: { archive: key.archive, number: key.rev, task: key.name.split(' ')[0] ?? '' } }
}
