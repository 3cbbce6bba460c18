// What an archive is: a repository that is watched, and how far its revisions are planned.
import type { findArchive } from './archives.sql.ts'
import { InvalidArchive } from './errors.ts'

/** Names of secrets, not the secrets. */
export type SourceCredentials = { readonly username: string; readonly password: string }

export type RepositorySource = {
  readonly type: 'svn' | 'git'
  readonly url: string
  /** Of git; without it, the one that the repository names as its first. */
  readonly branch?: string
  /** The folder that is the top of all paths. */
  readonly path?: string
  readonly credentials?: SourceCredentials
}

/** Where the revisions come from. Those of `push` come with their notices and from nowhere else. */
export type Source = RepositorySource | { readonly type: 'push' }

/** `held`: a person stopped the planning. `broken`: the history that was planned is gone; a person must decide. */
export type ArchiveState = 'active' | 'held' | 'broken' | 'removed'

export type ArchiveProblem = {
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  readonly since: string
}

export type Archive = {
  readonly id: string
  readonly name: string
  readonly source: Source
  readonly state: ArchiveState
  readonly identity: string | null
  /** The first revision that is planned, and the last one that was: one less than the first before that. */
  readonly first: number
  readonly planned: { readonly number: number; readonly id: string }
  readonly youngest: { readonly number: number; readonly id: string | null }
  /** What keeps the repository from being read, or the history from being planned. */
  readonly problem: ArchiveProblem | null
  readonly announcedAt: Date | null
  readonly lookedAt: Date | null
  readonly version: number
  readonly createdAt: Date
  readonly createdBy: string
}

type Row = NonNullable<Awaited<ReturnType<typeof findArchive>>>

export function toArchive(row: Row): Archive {
  return {
    id: row.id,
    name: row.name,
    source: row.source as Source,
    state: row.state as ArchiveState,
    identity: row.identity,
    first: Number(row.first_number),
    planned: { number: Number(row.planned_number), id: row.planned_id },
    youngest: { number: Number(row.youngest_number), id: row.youngest_id },
    problem: row.problem as ArchiveProblem | null,
    announcedAt: row.announced_at,
    lookedAt: row.looked_at,
    version: row.version,
    createdAt: row.created_at,
    createdBy: row.created_by,
  }
}

const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}._ -]{0,98}[\p{L}\p{N}\p{M}_-])?$/u

/**
 * The name itself. It stands in keys, in paths of URLs and in hooks: signs that mean something there (`@ : # /`) are
 * not for names, nor are two that look the same.
 */
export function checkName(name: string): string {
  if (NAME.test(name) && name === name.normalize('NFC')) return name
  throw new InvalidArchive(
    `"${name.slice(0, 100)}" cannot be the name of an archive`,
    'a name has at most 100 letters, digits, spaces, ".", "_" and "-", and begins with a letter or a digit',
  )
}

export const scopeOf = (archive: string) => `archive:${archive}`

/** Commands of one archive that run at once, unless a setting says otherwise. */
export const COMMANDS_AT_ONCE = 4

/**
 * The limit that the commands of an archive share. Each queue has its own: a task takes its place when it becomes ready, and
 * tasks of a queue without a worker would keep all places from those that can run.
 */
export const limitOf = (archive: string, queue: string) =>
  queue === 'default' ? scopeOf(archive) : `${scopeOf(archive)}, queue ${queue}`
