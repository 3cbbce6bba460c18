import { execFile } from 'node:child_process'
import { readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { HookRefused, NotARepository } from './errors.ts'

const run = promisify(execFile)

export type Kind = 'svn' | 'git'
export type Place = { readonly kind: Kind; readonly path: string }
export type Owner = { readonly uid: number; readonly gid: number }

/** A repository on this host, as far as its hooks are concerned. */
export type HookedRepository = {
  readonly kind: Kind
  /** The repository's own folder: of git, the one that all its work trees share. */
  readonly path: string
  readonly hooksDir: string
  /** The hooks that announce. */
  readonly hooks: readonly string[]
  /** Holds a folder for each archive that is told. */
  readonly folder: string
  /** Whom it belongs to, and so, in general, who runs its hooks. */
  readonly owner: Owner
  /** Its group writes to it as well, and runs its hooks then. */
  readonly isShared: boolean
  /** The branch that HEAD names; of git. */
  readonly branch: string | undefined
}

/** Finds out what is at the place. Throws `NotARepository` and, where its hooks belong to others, `HookRefused`. */
export function findRepository({ kind, path }: Place): Promise<HookedRepository> {
  return kind === 'svn' ? findSvn(path) : findGit(path)
}

async function findSvn(given: string): Promise<HookedRepository> {
  const path = await realpath(given).catch(() => resolve(given))
  const isThere = (await isFile(join(path, 'format'))) && (await isFolder(join(path, 'hooks')))
  const data = isThere ? await statOf(join(path, 'db')) : undefined
  if (data === undefined) throw new NotARepository('svn', given)
  return {
    kind: 'svn',
    path,
    hooksDir: join(path, 'hooks'),
    hooks: ['post-commit'],
    branch: undefined,
    ...whose(path, data),
  }
}

const BARE_HOOKS = ['post-receive']
// A branch moves in more ways than by a commit, and each has a hook of its own.
const WORK_TREE_HOOKS = ['post-commit', 'post-merge', 'post-rewrite', 'post-receive']

async function findGit(given: string): Promise<HookedRepository> {
  const path = await findGitFolder(await realpath(given).catch(() => resolve(given)))
  const data = path === undefined ? undefined : await statOf(join(path, 'objects'))
  if (path === undefined || data === undefined) throw new NotARepository('git', given)
  // With the folder named, git does not mind that it belongs to somebody else.
  const git = async (...args: string[]) =>
    (await run('git', [`--git-dir=${path}`, ...args]).catch(() => ({ stdout: '' }))).stdout.trim()
  const hooksPath = await git('config', '--type=path', '--get', 'core.hooksPath')
  const hooksDir = join(path, 'hooks')
  if (hooksPath !== '' && resolve(path, hooksPath) !== hooksDir) {
    throw new HookRefused(
      `${path} takes its hooks from ${hooksPath} (core.hooksPath), which others may share`,
      'call `millrace commit ARCHIVE COMMIT` from the hook there, or unset core.hooksPath',
    )
  }
  const isBare = (await git('config', '--type=bool', '--get', 'core.bare')) === 'true'
  const branch = (await git('symbolic-ref', '--short', 'HEAD')) || undefined
  return { kind: 'git', path, hooksDir, hooks: isBare ? BARE_HOOKS : WORK_TREE_HOOKS, branch, ...whose(path, data) }
}

/** The folder of a bare repository, of one with a work tree, or the one that a linked work tree belongs to. */
async function findGitFolder(path: string): Promise<string | undefined> {
  const dotGit = join(path, '.git')
  const link = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8').catch(() => ''))?.[1]
  if (link !== undefined) {
    const own = isAbsolute(link) ? link : join(path, link)
    const common = (await readFile(join(own, 'commondir'), 'utf8').catch(() => '')).trim()
    return realpath(common === '' ? own : resolve(own, common)).catch(() => undefined)
  }
  for (const candidate of [dotGit, path]) {
    if ((await isFile(join(candidate, 'HEAD'))) && (await isFolder(join(candidate, 'refs')))) return candidate
  }
  return undefined
}

function whose(path: string, { uid, gid, mode }: { uid: number; gid: number; mode: number }) {
  return { folder: join(path, 'millrace'), owner: { uid, gid }, isShared: (mode & 0o020) !== 0 }
}

const statOf = (path: string) => stat(path).catch(() => undefined)
const isFile = async (path: string) => (await statOf(path))?.isFile() ?? false
const isFolder = async (path: string) => (await statOf(path))?.isDirectory() ?? false
