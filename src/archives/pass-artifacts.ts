import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, normalize, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Pool } from '../db/index.ts'
import type { Millrace, WorkedTask } from '../engine/index.ts'
import { type Artifact, listArtifacts, readArtifact } from '../storage/index.ts'
import type { ArchiveTask } from './payload.ts'

const MOST = 100_000

type From = { readonly pool: Pool; readonly millrace: Millrace }

/**
 * Puts what the tasks that this one waits for have left into a folder, below the name of each. Only those of the same
 * revision: what an earlier one made is not about this one.
 */
export async function passArtifacts(
  { pool, millrace }: From,
  task: WorkedTask<ArchiveTask>,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const names = await sourcesOf(millrace, task)
  if (names.size === 0) return
  for (const artifact of await listArtifacts(pool, { tasks: [...names.keys()], limit: MOST })) {
    const file = within(folder, join(names.get(artifact.task) ?? '', artifact.path))
    if (file !== undefined) await write(pool, artifact, { file, signal })
  }
}

/** The tasks whose artifacts are passed on, with their names. */
async function sourcesOf(millrace: Millrace, task: WorkedTask<ArchiveTask>): Promise<Map<string, string>> {
  const { number } = task.payload.rev
  const names = new Map<string, string>()
  for (const { id, scope, key, state, kind } of await millrace.requirements(task.id)) {
    const [, name] = new RegExp(`^${number}:([^#]+)`).exec(key ?? '') ?? []
    if (scope === task.scope && kind === task.kind && state === 'succeeded' && name !== undefined) names.set(id, name)
  }
  return names
}

/** Paths come from the database: what would lead out of the folder is left out. */
function within(folder: string, path: string): string | undefined {
  const file = normalize(join(folder, path))
  return file.startsWith(folder + sep) ? file : undefined
}

async function write(pool: Pool, artifact: Artifact, to: { file: string; signal: AbortSignal }): Promise<void> {
  await mkdir(dirname(to.file), { recursive: true })
  const target = createWriteStream(to.file, { mode: artifact.isExecutable ? 0o755 : 0o644 })
  await pipeline(Readable.from(readArtifact(pool, artifact)), target, { signal: to.signal })
}
