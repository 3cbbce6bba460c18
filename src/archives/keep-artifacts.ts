import { join } from 'node:path'
import type { Pool } from '../db/index.ts'
import { PermanentError } from '../engine/index.ts'
import { beginFiles, dropFiles, FileUnusable, type StoredFile, storeFile } from '../storage/index.ts'
import { ArtifactsRefused, checkPlace, type FileLimits, findFiles } from './find-files.ts'
import type { Room } from './task-room.ts'

export type Collecting = {
  readonly pool: Pool
  readonly room: Room
  readonly patterns: readonly string[]
  readonly limits: FileLimits
  readonly task: string
  readonly attempt: number
  readonly signal: AbortSignal
  /** Told of what fits and is not kept, and of what does not fit. */
  readonly onNote: (note: string) => void
}

/**
 * Stores what a task leaves behind. It becomes the task's with its outcome; what is stored for nothing is removed. Throws
 * `PermanentError` for what cannot be kept.
 */
export async function keepFiles(of: Collecting): Promise<StoredFile[]> {
  const { pool, room, patterns, task, attempt, signal } = of
  if (patterns.length === 0) return []
  try {
    await checkPlace(room.path, room.place)
    const { paths, notes } = await findFiles(room.path, patterns, of.limits)
    for (const note of notes) of.onNote(note)
    if (paths.length === 0) return []
    await beginFiles(pool, { task, attempt }, signal)
    const stored: StoredFile[] = []
    for (const [number, path] of paths.entries()) {
      stored.push(await storeFile({ pool, task, attempt, signal, path, number, file: join(room.path, path) }))
    }
    return stored
  } catch (error) {
    await dropFiles(pool, { task, attempt }).catch(() => {})
    const isRefused = error instanceof ArtifactsRefused || error instanceof FileUnusable
    throw isRefused ? new PermanentError(`the artifacts are not kept: ${error.message}`) : error
  }
}
