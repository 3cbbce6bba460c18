// Where a task of an archive is performed: a workspace at its revision, and a folder beside it for what Millrace hands to
// the command. Both are gone, or given back, when the room is.
import { chmod, mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from '../db/index.ts'
import { TransientError } from '../engine/index.ts'
import { makeScratchFolder, removeFolder } from '../runners/index.ts'
import { type Repository, RepositoryError, type Workspace } from '../vcs/index.ts'
import type { ArchiveTask } from './payload.ts'
import { nameOfRoom } from './sweep-rooms.ts'

export type Room = AsyncDisposable & {
  /** The folder in which the command runs. */
  readonly path: string
  /** What that folder truly is, whatever a command puts in its place. */
  readonly place: string
  /** Undefined: the archive has no repository, and the folder is an empty one. */
  readonly repository: Repository | undefined
  readonly workspace: Workspace | undefined
  /** For what the command is given, readable for it alone. */
  readonly folder: string
}

export type RoomOptions = {
  readonly repositories: { of(archive: string): Promise<Repository> }
  readonly scratch: string
  readonly task: string
  readonly epoch: number
  readonly work: ArchiveTask
  readonly signal: AbortSignal
  /** Told when the repository does not answer and is asked again. */
  readonly onPause: (why: string) => void
  /** Pauses before it is asked again. */
  readonly pausesMs?: readonly number[]
}

// A repository that is restarted, or a network that breaks for a moment, costs a task none of its retries.
const PAUSES_MS = [1_000, 4_000, 10_000]

/** The repository does not answer, and may do so later without anybody's help. */
export class RepositoryAway extends TransientError {}

/** Throws `TransientError` when the workspace cannot be made, and of these `RepositoryAway` for what passes. */
export async function openRoom(options: RoomOptions): Promise<Room> {
  const folder = await makeScratchFolder(options.scratch, nameOfRoom(options.task, options.epoch))
  const remove = () => removeFolder(folder)
  try {
    // Containers have users of their own; on the host the folder above keeps others out.
    await chmod(folder, 0o755)
    await mkdir(join(folder, 'tmp'))
    const taken = await takeWorkspace(options)
    const path = taken?.workspace.path ?? join(folder, 'workspace')
    if (taken === undefined) await mkdir(path)
    const leave = async () => {
      await taken?.workspace[Symbol.asyncDispose]()
      await remove()
    }
    const { repository, workspace } = taken ?? { repository: undefined, workspace: undefined }
    return { path, place: await realpath(path), repository, workspace, folder, [Symbol.asyncDispose]: leave }
  } catch (error) {
    await remove()
    throw error
  }
}

type Taken = { readonly repository: Repository; readonly workspace: Workspace }

async function takeWorkspace(options: RoomOptions): Promise<Taken | undefined> {
  const { repositories, work, signal, onPause, pausesMs = PAUSES_MS } = options
  for (let round = 0; ; round += 1) {
    try {
      const repository = (await repositories.of(work.archive)).withSignal(signal)
      return { repository, workspace: await repository.workspace({ revision: work.rev, key: work.name }) }
    } catch (error) {
      signal.throwIfAborted()
      const { code, message } = error as { code?: unknown; message: string }
      if (code === 'no_repository') return undefined
      const why = `the workspace of ${work.archive} at revision ${work.rev.number} cannot be made: ${message}`
      const isDatabaseAway = isPassing(error)
      const mayPass = isDatabaseAway || (error instanceof RepositoryError && error.isRetryable)
      if (!mayPass) throw new TransientError(why, { cause: error })
      const pauseMs = pausesMs[round]
      if (pauseMs === undefined) throw new RepositoryAway(why, { cause: error })
      onPause(`${why}; trying again in ${pauseMs / 1000} s`)
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}
