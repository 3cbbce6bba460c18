import { setTimeout as sleep } from 'node:timers/promises'
import { collect, type Repository } from '../vcs/index.ts'
import type { Archive } from './archive.ts'
import { OTHER_REPOSITORY } from './archive-problem.ts'
import { acceptHistory, knownCommits, wantLook } from './archives.sql.ts'
import type { ArchivesContext } from './context.ts'
import { ArchiveChanged, ArchiveStateRefused } from './errors.ts'
import { find } from './find.ts'
import type { RevisionRef } from './payload.ts'
import { readable } from './repositories.ts'

const LOOK_MS = 20

export type CatchUp = {
  /** Take the history as it is now, although it is not the one that was planned. */
  readonly accept?: 'rewritten' | undefined
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
}

/** Looks at the repository now, and answers the archive once it is planned to its end or the time is over. */
export async function catchUp(context: ArchivesContext, name: string, options: CatchUp): Promise<Archive> {
  const { pool } = context
  if (options.accept !== undefined) await acceptRewritten(context, await find(pool, name))
  const { id, state } = await find(pool, name)
  if (state === 'held')
    throw new ArchiveStateRefused(
      name,
      'is held, and nothing is planned',
      `release it: \`millrace archive resume ${name}\``,
    )
  const { now } = await wantLook(pool, { archive: id })
  context.wake()
  const until = Date.now() + options.waitMs
  for (;;) {
    const archive = await find(pool, name)
    const isDone = archive.lookedAt !== null && archive.lookedAt >= now
    const isLookedAt = archive.state === 'active' || archive.problem?.code === OTHER_REPOSITORY
    if (isDone || !isLookedAt || Date.now() >= until || options.signal?.aborted) return archive
    await sleep(LOOK_MS)
  }
}

/**
 * Goes on from the history as it is now. In git the commits after the last one that both histories share become the
 * next revisions, numbered on from the last that was planned; when they share none that was planned, planning goes on
 * after the youngest. Subversion numbers its revisions itself: those up to the cursor count as planned.
 */
async function acceptRewritten(context: ArchivesContext, archive: Archive): Promise<void> {
  const { pool, repositories } = context
  const { name, state, planned } = archive
  if (state !== 'broken')
    throw new ArchiveStateRefused(name, `is ${state}: its history was not rewritten, and there is nothing to accept`)
  const source = readable(name, archive.source)
  const repository = await repositories.open(name, source)
  const identity = (await repository.identity()) ?? null
  const youngest = await repository.youngest()
  const isSvn = source.type === 'svn'
  const place = isSvn ? planned : ((await lastShared(context, archive, repository)) ?? youngest)
  const accepted = await acceptHistory(pool, {
    id: archive.id,
    version: archive.version,
    identity,
    planned_id: place.id,
    is_set_back: isSvn && youngest.number < planned.number,
  })
  if (accepted === undefined) throw new ArchiveChanged(name, (await find(pool, name)).version)
  repositories.forget(name)
}

const AT_ONCE = 1000

/** The last commit of the history as it is now that was planned as a revision. */
async function lastShared(
  { pool }: ArchivesContext,
  { id: archive }: Archive,
  repository: Repository,
): Promise<RevisionRef | undefined> {
  const line = (await collect(repository.log({ withChanges: false }))).map(({ id }) => id)
  for (let end = line.length; end > 0; end -= AT_ONCE) {
    const some = line.slice(Math.max(0, end - AT_ONCE), end)
    const known = new Map((await knownCommits(pool, { archive, ids: some })).map((row) => [row.id, Number(row.number)]))
    const last = some.findLast((id) => known.has(id))
    if (last !== undefined) return { number: known.get(last) ?? 0, id: last }
  }
  return undefined
}
