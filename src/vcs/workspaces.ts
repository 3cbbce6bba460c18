// Workspaces are kept in slots, folders `workspaces/<id>` of the cache, each with a lock `<id>.lock` beside it. Whoever
// holds the lock has the slot to himself. A slot whose holder was killed is never used again: what he started may still
// be writing there, so it is thrown away, and a new one has a new name.
import { randomUUID } from 'node:crypto'
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyTrash, makeFolder, namesIn, throwAway } from './cache.ts'
import { AuthenticationFailed, PathNotFound, RepositoryUnreachable, RevisionNotFound, ToolMissing } from './errors.ts'
import { type Lock, tryLock } from './lock.ts'
import type { Revision, Workspace } from './repository.ts'
import type { Session } from './session.ts'

/** How one program fills a slot. `tree` in it is the folder with the files, which the task may write. */
export type Filler = {
  /** Into an empty slot. */
  create(slot: string, revision: Revision): Promise<void>
  /** Into one that was used before, whatever state its user left it in. Any error means: make a new one. */
  refresh(slot: string, revision: Revision): Promise<void>
}

type Slot = { readonly id: string; readonly key: string; readonly usedAt: number }

const live = new WeakSet<Workspace>()

/** Whether the workspace is still its caller's. */
export const isLive = (workspace: Workspace) => live.has(workspace)

export const treeOf = (slot: string) => join(slot, 'tree')

export type Wanted = {
  readonly revision: Revision
  readonly key: string
  readonly path: string
  readonly needs: readonly string[]
}

/** A slot with the tree of the revision, taken from those that are free or made anew. */
export async function takeWorkspace(session: Session, filler: Filler, wanted: Wanted): Promise<Workspace> {
  await emptyTrash(session.folder)
  const { lock, slot } = (await reuse(session, filler, wanted)) ?? (await make(session, filler, wanted))
  await writeFile(join(slot, 'key'), wanted.key)
  const release = async () => {
    if (!live.delete(workspace)) return
    await lock.release()
    await dropSurplus(session)
  }
  const path = wanted.path === '' ? treeOf(slot) : join(treeOf(slot), wanted.path)
  const { revision, needs } = wanted
  const workspace: Workspace = { path, revision, slot, needs, [Symbol.asyncDispose]: release }
  live.add(workspace)
  return workspace
}

type Taken = { readonly lock: Lock; readonly slot: string }

async function reuse(session: Session, filler: Filler, { revision, key }: Wanted): Promise<Taken | undefined> {
  const order = (a: Slot, b: Slot) => Number(b.key === key) - Number(a.key === key) || b.usedAt - a.usedAt
  for (const { id } of (await readSlots(session)).sort(order)) {
    const taken = await takeFree(session, id)
    if (!taken) continue
    try {
      // Were the tree a link to elsewhere, cleaning it would clean that place.
      if (!(await lstat(treeOf(taken.slot))).isDirectory()) throw new Error('the tree is no folder')
      await filler.refresh(taken.slot, revision)
      return taken
    } catch (error) {
      const isOurs = !isOfRepository(error, session)
      if (isOurs) await throwAway(session.folder, taken.slot)
      await taken.lock.release()
      if (!isOurs) throw error
    }
  }
  return undefined
}

/** The slot's lock when nobody has it; undefined when somebody does, or when the slot had to be thrown away. */
async function takeFree(session: Session, id: string): Promise<Taken | undefined> {
  const lock = await tryLock(lockOf(session, id))
  if (!lock) return undefined
  const slot = slotOf(session, id)
  if (lock.wasAbandoned) await throwAway(session.folder, slot)
  const isThere = await lstat(slot).catch(() => undefined)
  if (isThere) return { lock, slot }
  await lock.release()
  return undefined
}

async function make(session: Session, filler: Filler, { revision }: Wanted): Promise<Taken> {
  const id = randomUUID()
  const slot = slotOf(session, id)
  await makeFolder(join(session.folder, 'workspaces'))
  // Before the folder: a slot without a lock is free for everybody.
  const lock = await tryLock(lockOf(session, id))
  if (!lock) throw new Error(`the lock of the new workspace ${id} is taken`)
  try {
    await makeFolder(slot)
    await filler.create(slot, revision)
    return { lock, slot }
  } catch (error) {
    await throwAway(session.folder, slot)
    await lock.release()
    throw error
  }
}

/** Errors that a new slot would meet as well, so that this one is kept. */
function isOfRepository(error: unknown, { signal }: Session): boolean {
  const classes = [RepositoryUnreachable, AuthenticationFailed, RevisionNotFound, PathNotFound, ToolMissing]
  return signal?.aborted === true || classes.some((one) => error instanceof one)
}

/** Throws away what is free beyond the number to keep, longest unused first. */
async function dropSurplus(session: Session): Promise<void> {
  const slots = (await readSlots(session)).sort((a, b) => a.usedAt - b.usedAt)
  let surplus = slots.length - session.keepWorkspaces
  for (const { id } of slots) {
    if (surplus <= 0) return
    const taken = await takeFree(session, id)
    if (!taken) continue
    await throwAway(session.folder, taken.slot)
    await taken.lock.release()
    surplus -= 1
  }
}

async function readSlots(session: Session): Promise<Slot[]> {
  // Also those of which a crash left the lock alone.
  const ids = new Set((await namesIn(join(session.folder, 'workspaces'))).map((name) => name.replace(/\..*/, '')))
  return Promise.all(
    [...ids].map(async (id) => {
      const file = join(slotOf(session, id), 'key')
      const key = await readFile(file, 'utf8').catch(() => '')
      const facts = await lstat(file).catch(() => undefined)
      return { id, key, usedAt: facts?.mtimeMs ?? 0 }
    }),
  )
}

const slotOf = ({ folder }: Session, id: string) => join(folder, 'workspaces', id)
const lockOf = (session: Session, id: string) => `${slotOf(session, id)}.lock`
