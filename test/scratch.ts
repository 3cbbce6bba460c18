import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopOrphans } from '../src/db/embedded-orphans.ts'

export type Scratch = AsyncDisposable & { readonly path: string }

/** A folder of the test's own; in the end whatever database runs on `<path>/…/postgres-18` is ended with it. */
export async function scratch(...clusters: string[]): Promise<Scratch> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'millrace-scratch-')))
  return {
    path,
    async [Symbol.asyncDispose]() {
      for (const cluster of ['postgres-18', ...clusters]) await stopOrphans(join(path, cluster))
      await rm(path, { recursive: true, force: true })
    },
  }
}
