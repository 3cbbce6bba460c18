import { lstat, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { NoHook, orRefuse } from './errors.ts'
import { findBlock, isWrapper, WRAPPED, withoutBlock } from './hook-file.ts'
import { listInstalled } from './list-installed.ts'
import type { HookedRepository } from './repository.ts'
import { writeWhole } from './write-file.ts'

export type Uninstalled = {
  readonly archives: readonly string[]
  /** Notices that were never sent. */
  readonly unsent: number
  /** Tokens that nobody uses any more. */
  readonly tokenIds: readonly string[]
}

/** Takes away what `install` put there, for one archive or for all; the rest of the hook files stays. Throws `NoHook`. */
export function uninstall(repository: HookedRepository, archive?: string): Promise<Uninstalled> {
  return orRefuse(repository.path, () => removeAll(repository, archive))
}

async function removeAll(repository: HookedRepository, archive?: string): Promise<Uninstalled> {
  const all = await listInstalled(repository)
  const gone = archive === undefined ? all : all.filter((one) => one.archive === archive)
  const isLast = gone.length === all.length
  const hasBlock = isLast && (await restoreHooks(repository))
  if (gone.length === 0 && !hasBlock) throw new NoHook(repository.path, archive)
  for (const { folder } of gone) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  if (isLast) await rmdir(repository.folder).catch(() => {})
  return {
    archives: gone.map((one) => one.archive),
    unsent: gone.reduce((sum, { spooled }) => sum + spooled, 0),
    tokenIds: gone.flatMap(({ tokenId }) => tokenId ?? []),
  }
}

/** Whether there was something of ours in the hook files. */
async function restoreHooks({ hooksDir }: HookedRepository): Promise<boolean> {
  let isFound = false
  for (const name of await readdir(hooksDir)) {
    const path = join(hooksDir, name)
    // What a wrapper had put aside may have its name back already.
    const found = await lstat(path).catch(() => undefined)
    const text = found?.isFile() ? await readFile(path, 'latin1').catch(() => '') : ''
    if (found === undefined || findBlock(text) === undefined) continue
    isFound = true
    const rest = withoutBlock(text)
    if (isWrapper(text)) await rename(path + WRAPPED, path)
    else if (rest === undefined) await rm(path)
    else await writeWhole({ path, content: rest, mode: found.mode & 0o7777, owner: { uid: found.uid, gid: found.gid } })
  }
  return isFound
}
