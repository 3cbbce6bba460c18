import { type Archive, type ArchiveState, scopeOf } from './archive.ts'
import { setState, wantLook } from './archives.sql.ts'
import type { ArchivesContext } from './context.ts'
import { ArchiveChanged, ArchiveStateRefused } from './errors.ts'
import { find } from './find.ts'

const CATCH_UP = 'a person must decide: see `millrace archive show` and `archive catch-up`'

/** Stops the planning: revisions are announced and wait; tasks that were planned go on. */
export function hold(context: ArchivesContext, name: string): Promise<Archive> {
  return move(context, name, { to: 'held', from: 'active', participle: 'held' })
}

/** Goes on with the revision after the last that was planned. */
export async function release(context: ArchivesContext, name: string): Promise<Archive> {
  const archive = await move(context, name, { to: 'active', from: 'held', participle: 'released' })
  await wantLook(context.pool, { archive: archive.id })
  context.wake()
  return archive
}

type Move = { readonly to: ArchiveState; readonly from: ArchiveState; readonly participle: 'held' | 'released' }

async function move(context: ArchivesContext, name: string, { to, from, participle }: Move): Promise<Archive> {
  const { pool, millrace } = context
  const archive = await find(pool, name)
  if (archive.state === to) return archive
  const moved = await setState(pool, { id: archive.id, state: to, from: [from], version: null })
  if (moved !== undefined) {
    await millrace.publish({ name: `archive.${participle}`, scope: scopeOf(name) })
    return find(pool, name)
  }
  const { state } = await find(pool, name)
  throw new ArchiveStateRefused(
    name,
    `is ${state} and cannot be ${participle}`,
    state === 'broken' ? CATCH_UP : undefined,
  )
}

/** Stops the watching. What was planned stays, and so does the name: numbers of revisions are never used twice. */
export async function remove({ pool }: ArchivesContext, name: string, version?: number): Promise<void> {
  const archive = await find(pool, name)
  const from = ['active', 'held', 'broken']
  const moved = await setState(pool, { id: archive.id, state: 'removed', from, version: version ?? null })
  if (moved === undefined) throw new ArchiveChanged(name, (await find(pool, name)).version)
}
