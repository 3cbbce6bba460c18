import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from '../src/db/index.ts'
import { keepArtifacts, type StoredFile, storeFile } from '../src/storage/index.ts'

export type LeftFile = {
  readonly content: string | Buffer
  readonly isExecutable?: boolean
  /** What is told of it, where that is not the truth. */
  readonly told?: Partial<StoredFile>
}

/** Leaves files behind as a task does, instead of those it had. */
export async function leaveArtifacts(
  pool: Pool,
  task: string,
  files: Readonly<Record<string, LeftFile>>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-left-'))
  const of = { task, attempt: 1 }
  const { signal } = new AbortController()
  const stored: StoredFile[] = []
  for (const [number, [path, { content, isExecutable, told }]] of Object.entries(files).entries()) {
    const file = join(folder, String(number))
    await writeFile(file, content, { mode: isExecutable ? 0o755 : 0o644 })
    stored.push({ ...(await storeFile({ ...of, pool, file, path, number, signal })), ...told })
  }
  await keepArtifacts(pool, of, stored)
  await rm(folder, { recursive: true })
}
