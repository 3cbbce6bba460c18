import { constants } from 'node:fs'
import { access, link, lstat, readFile, readlink, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { HookRefused, orRefuse } from './errors.ts'
import { blockFor, isWrapper, WRAPPED, withBlock, wrapperFor } from './hook-file.ts'
import { folderOf, readScript, settingsFor, type Told } from './notifier.ts'
import type { HookedRepository } from './repository.ts'
import { type FileToWrite, makeFolder, writeWhole } from './write-file.ts'

export type Install = Told & {
  readonly token: string
  /** By what the token can be revoked; undefined where nobody said. */
  readonly tokenId: string | undefined
}

export type Installed = {
  readonly folder: string
  /** The hook files that announce now. */
  readonly hooks: readonly string[]
  /** Those that stand beside, for they are not shell scripts and are called after the announcement. */
  readonly wrapped: readonly string[]
}

/**
 * Makes the hooks of a repository announce what comes. Everything that a hook needs is in place before the hook file
 * names it, and doing it again changes nothing but what is different. Throws `HookRefused`.
 */
export function install(repository: HookedRepository, asked: Install): Promise<Installed> {
  return orRefuse(repository.path, () => writeAll(repository, asked))
}

async function writeAll(repository: HookedRepository, asked: Install): Promise<Installed> {
  const { owner, isShared } = repository
  // What is refused is refused before anything is written.
  const settings = await settingsFor(repository, asked)
  const files = await Promise.all(repository.hooks.map((name) => planHookFile(repository, name)))
  const folder = folderOf(repository, asked.archive)
  const mode = isShared ? 0o2770 : 0o700
  for (const path of [repository.folder, folder, join(folder, 'spool')]) await makeFolder(path, mode, owner)
  const secret = isShared ? 0o640 : 0o600
  const put = (name: string, content: string, mode: number) =>
    writeWhole({ path: join(folder, name), content, mode, owner })
  const { ino } = await stat(folder, { bigint: true })
  await put('settings', settings(String(ino)), secret)
  await put('token', `${asked.token}\n`, secret)
  if (asked.tokenId !== undefined) await put('token-id', `${asked.tokenId}\n`, secret)
  await put('archive', `${JSON.stringify(asked.archive)}\n`.replace(/[\u0080-\uffff]/g, escaped), secret)
  await put('notify', await readScript(), isShared ? 0o750 : 0o700)
  for (const { file, isWrapping } of files) {
    if (isWrapping) await moveAside(file.path)
    await writeWhole(file)
  }
  const wrapped = files.filter(({ isWrapping }) => isWrapping)
  return { folder, hooks: files.map(({ file }) => file.path), wrapped: wrapped.map(({ file }) => file.path + WRAPPED) }
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

type HookFile = { readonly file: FileToWrite; readonly isWrapping: boolean }

/** What the hook file becomes. Throws `HookRefused` where it cannot become that without harm. */
export async function planHookFile({ kind, hooksDir, owner }: HookedRepository, name: string): Promise<HookFile> {
  const path = join(hooksDir, name)
  const block = blockFor(kind)
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) {
    const content = withBlock('', block) ?? ''
    return { file: { path, content, mode: 0o755, owner }, isWrapping: false }
  }
  const isLink = found.isSymbolicLink()
  const wrapping = { file: { path, content: wrapperFor(block), mode: 0o755, owner }, isWrapping: true }
  const text = await readFile(path, 'latin1').catch((error: NodeJS.ErrnoException) => {
    throw new HookRefused(`${path} cannot be read (${error.code})`, 'mend it, or move it away')
  })
  if (text.trim() !== '') await requireExecutable(path)
  // Behind a link is a file that other repositories may use, too.
  const content = isLink ? undefined : withBlock(text, block)
  if (content === undefined) {
    await requireFree(path + WRAPPED)
    return wrapping
  }
  const kept = isWrapper(text) ? wrapperFor(block) : content
  const mode = text.trim() === '' ? 0o755 : found.mode & 0o7777
  return { file: { path, content: kept, mode, owner: { uid: found.uid, gid: found.gid } }, isWrapping: false }
}

/** A hook that somebody has switched off would be switched on with ours. */
async function requireExecutable(path: string): Promise<void> {
  await access(path, constants.X_OK).catch(() => {
    throw new HookRefused(
      `${path} is there and not executable, so it does not run`,
      'make it executable, or move it away',
    )
  })
}

async function requireFree(path: string): Promise<void> {
  if ((await lstat(path).catch(() => undefined)) === undefined) return
  throw new HookRefused(`${path} is there already`, 'it was left by an earlier installation: move it away')
}

/** Gives the file a second name; the first one is given to another file at once, so that there always is a hook. */
async function moveAside(path: string): Promise<void> {
  const target = await readlink(path).catch(() => undefined)
  if (target === undefined) await link(path, path + WRAPPED)
  else await symlink(target, path + WRAPPED)
}
