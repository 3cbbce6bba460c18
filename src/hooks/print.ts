import { blockFor, withBlock } from './hook-file.ts'
import { folderOf, readScript, settingsFor, type Told } from './notifier.ts'
import type { HookedRepository } from './repository.ts'

export type PrintedFile = { readonly path: string; readonly mode: string; readonly content: string }

/**
 * The files that `install` would write into a repository without hooks, for those who bring files about otherwise. They
 * add the token, the folder `spool`, and the inode of the folder (`ls -di`).
 */
export async function printHook(repository: HookedRepository, told: Told): Promise<PrintedFile[]> {
  const folder = folderOf(repository, told.archive)
  const hook = withBlock('', blockFor(repository.kind)) ?? ''
  const settings = await settingsFor(repository, told)
  const secret = repository.isShared ? '0640' : '0600'
  return [
    ...repository.hooks.map((name) => ({ path: `${repository.hooksDir}/${name}`, mode: '0755', content: hook })),
    { path: `${folder}/settings`, mode: secret, content: settings('INODE') },
    { path: `${folder}/notify`, mode: repository.isShared ? '0750' : '0700', content: await readScript() },
  ]
}
