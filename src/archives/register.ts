import { isDeepStrictEqual } from 'node:util'
import { HistoryRewritten, PathNotFound, type Repository, RevisionNotFound } from '../vcs/index.ts'
import { type Archive, checkName, type RepositorySource, type Source, toArchive } from './archive.ts'
import { changeArchive, findArchive, insertArchive, wantLook } from './archives.sql.ts'
import type { ArchivesContext } from './context.ts'
import { ArchiveChanged, ArchiveStateRefused, InvalidArchive, OtherRepository } from './errors.ts'
import type { RevisionRef } from './payload.ts'

export type Registration = {
  readonly source: Source
  /** Where history starts: after what there is now, or with that revision. Counts when the archive is new or was removed. */
  readonly from?: 'head' | number | undefined
  readonly actor: string
  /** The version that the caller has seen; undefined: any. */
  readonly version?: number | undefined
}

export type Registered = { readonly archive: Archive; readonly isNew: boolean }

type Seen = { readonly identity: string | null; readonly youngest: RevisionRef; readonly repository?: Repository }

const PUSH: Seen = { identity: null, youngest: { number: 0, id: '0' } }

/**
 * Registers an archive or changes where it is read from. The repository is asked first: what cannot be read is refused.
 * The history is not read here, so an archive with a long one is registered as fast as a new one.
 */
export async function register(context: ArchivesContext, name: string, given: Registration): Promise<Registered> {
  checkName(name)
  const row = await findArchive(context.pool, { name })
  const known = row === undefined ? undefined : toArchive(row)
  if (
    given.version !== undefined &&
    (known === undefined || known.state === 'removed' || known.version !== given.version)
  )
    throw new ArchiveChanged(name, known?.version ?? 0)
  if (known !== undefined && known.source.type !== given.source.type)
    throw new InvalidArchive(
      `archive "${name}" is of type ${known.source.type} and stays so`,
      'register the other repository under another name',
    )
  const seen = await look(context, name, given.source, known)
  const isNew =
    known === undefined ? await insert(context, name, given, seen) : await change(context, known, given, seen)
  context.wake()
  return { archive: await read(context, name), isNew }
}

async function read({ pool }: ArchivesContext, name: string): Promise<Archive> {
  const row = await findArchive(pool, { name })
  if (row === undefined) throw new Error(`archive "${name}" has vanished`)
  return toArchive(row)
}

async function look(context: ArchivesContext, name: string, source: Source, known?: Archive): Promise<Seen> {
  if (source.type === 'push') return PUSH
  const repository = await context.repositories.open(name, source, known?.identity ?? undefined)
  try {
    const identity = (await repository.identity()) ?? null
    if (known?.identity != null && identity !== known.identity)
      throw new OtherRepository(name, known.identity, identity ?? undefined)
    const youngest = await repository.youngest()
    await checkPath(repository, source, youngest)
    return { identity, youngest, repository }
  } catch (error) {
    if (error instanceof HistoryRewritten && known?.identity != null)
      throw new OtherRepository(name, known.identity, error.found)
    throw error
  }
}

/** A folder that is not there is more likely a mistake than one that will come. */
async function checkPath(
  repository: Repository,
  { path, url }: RepositorySource,
  youngest: RevisionRef,
): Promise<void> {
  if (path === undefined || path === '' || youngest.number === 0) return
  if ((await repository.stat('', youngest))?.kind === 'folder') return
  throw new PathNotFound(`there is no folder ${path} in ${url} at revision ${youngest.number}`)
}

async function insert(context: ArchivesContext, name: string, given: Registration, seen: Seen): Promise<boolean> {
  const start = await startOf(given, seen)
  const inserted = await insertArchive(context.pool, {
    name,
    source: JSON.stringify(given.source),
    identity: seen.identity,
    planned_number: String(start.number),
    planned_id: start.id,
    youngest_number: String(seen.youngest.number),
    youngest_id: seen.youngest.id,
    look_at_once: given.source.type !== 'push',
    created_by: given.actor,
  })
  if (inserted === undefined)
    throw new ArchiveStateRefused(name, 'was registered by somebody else just now', 'read it and decide anew')
  return true
}

async function change(context: ArchivesContext, known: Archive, given: Registration, seen: Seen): Promise<boolean> {
  const { name, planned } = known
  const wasRemoved = known.state === 'removed'
  if (!wasRemoved && typeof given.from === 'number' && given.from !== known.first)
    throw new InvalidArchive(`the history of archive "${name}" starts at revision ${known.first} and stays there`)
  const start = wasRemoved && given.from !== undefined ? await startOf(given, seen) : planned
  if (start.number < planned.number)
    throw new InvalidArchive(
      `revisions of archive "${name}" up to ${planned.number} were planned before it was removed`,
      `leave "from" out to go on with revision ${planned.number + 1}`,
    )
  if (!wasRemoved && known.identity === seen.identity && isDeepStrictEqual(known.source, given.source)) return false
  const changed = await changeArchive(context.pool, {
    id: known.id,
    version: known.version,
    source: JSON.stringify(given.source),
    identity: seen.identity,
    planned_number: String(start.number),
    planned_id: start.id,
  })
  // The cursor may have moved on, which is no change that anybody could lose.
  if (changed === undefined) return changeAgain(context, known, given, seen)
  await wantLook(context.pool, { archive: known.id })
  return false
}

async function changeAgain(
  context: ArchivesContext,
  known: Archive,
  given: Registration,
  seen: Seen,
): Promise<boolean> {
  const now = await read(context, known.name)
  if (now.version !== known.version || now.planned.number === known.planned.number)
    throw new ArchiveChanged(known.name, now.version)
  return change(context, now, given, seen)
}

/** The revision after which planning begins. */
async function startOf({ from = 'head' }: Registration, { youngest, repository }: Seen): Promise<RevisionRef> {
  if (from === 'head') return youngest
  if (repository === undefined) return { number: from - 1, id: String(from - 1) }
  if (from > youngest.number + 1)
    throw new RevisionNotFound(`the repository has no revision ${from}; the youngest is ${youngest.number}`)
  return from - 1 === youngest.number ? youngest : await repository.revision(from - 1)
}
