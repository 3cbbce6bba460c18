import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stopOrphans } from '../src/db/embedded-orphans.ts'

export type Scratch = AsyncDisposable & { readonly path: string }

/** A folder of the test's own; in the end whatever database runs on `<path>/postgres-18` is ended with it. */
export async function scratch(): Promise<Scratch> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'millrace-scratch-')))
  // Passable for the user that runs the database: the tests of folders that are not make one inside.
  await chmod(path, 0o755)
  const remove = async () => {
    await stopOrphans(join(path, 'postgres-18'))
    await rm(path, { recursive: true, force: true })
  }
  // Also after a test that ran out of time, which leaves its `await using` undone.
  onTestFinished(remove)
  return { path, [Symbol.asyncDispose]: remove }
}
