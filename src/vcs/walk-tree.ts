// The server's own look at a tree that a task may write, perhaps at this moment. Each folder is opened by its parent's handle,
// and each name is looked up in an open folder, so that a link that a task puts in the place of a folder leads nowhere.
//
// Names are byte strings ("latin1" of Node): a name need not be UTF-8, and must not be mistaken for another.
import { constants, createWriteStream } from 'node:fs'
import { lstat, open, readdir, readlink, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { InvalidChange } from './errors.ts'

export type FoundKind = 'file' | 'link' | 'folder'

export type Found = {
  readonly kind: FoundKind
  /** Changes with every write: holds times, size and inode. Of a folder it says nothing of what is inside. */
  readonly stamp: string
}

export type TreeOptions = {
  /** Looks only below this folder. */
  readonly base?: string
  /** Names at the top that are left out. */
  readonly except?: readonly string[]
  /** Looks into administrations as into any folder. */
  readonly isWhole?: boolean
}

export type Walked = {
  readonly found: ReadonlyMap<string, Found>
  /** What carries the name of git's or Subversion's administration, except the names that are left out. Not looked into. */
  readonly administrations: readonly string[]
}

const MOST_ENTRIES = 2_000_000
const MOST_DEPTH = 256
const MOST_PATH_BYTES = 3_000 // git and Subversion give up near 4,000
const AT_ONCE = 64
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const CONTENT = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Everything in the tree. What is no file, link or folder is left out, as version control does. */
export async function walkTree(
  root: string,
  { base = '', except = [], isWhole = false }: TreeOptions = {},
): Promise<Walked> {
  const found = new Map<string, Found>()
  const administrations: string[] = []
  const walk = async (folder: Folder, depth: number): Promise<void> => {
    const inner: string[] = []
    const look = async (name: string) => {
      const path = joinName(folder.path, name)
      if (folder.path === '' && except.includes(name)) return
      checkName(path, depth)
      if (!isWhole && isAdministration(name)) return void administrations.push(path)
      const entry = await lookAt(folder, name)
      if (entry === undefined) return
      if (found.size >= MOST_ENTRIES) throw new InvalidChange(`the workspace holds more than ${MOST_ENTRIES} files`)
      found.set(path, entry)
      if (entry.kind === 'folder') inner.push(name)
    }
    const names = await namesOf(folder)
    for (let i = 0; i < names.length; i += AT_ONCE) await Promise.all(names.slice(i, i + AT_ONCE).map(look))
    for (const name of inner) {
      await using below = await openBelow(folder, name)
      if (below !== undefined) await walk(below, depth + 1)
    }
  }
  await using top = await openFolder(root, base)
  if (top !== undefined) await walk(top, 0)
  return { found, administrations: administrations.sort() }
}

/** A name that git or Subversion could take for the folder of its administration, on any file system. */
export function isAdministration(name: string): boolean {
  const plain = Buffer.from(name, 'latin1')
    .toString('utf8')
    .normalize('NFKC')
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
  return ['.git', '.svn', 'git~1'].includes(plain.replace(/:.*$/, ''))
}

function checkName(path: string, depth: number): void {
  if (depth <= MOST_DEPTH && path.length <= MOST_PATH_BYTES) return
  throw new InvalidChange(`the path ${toText(path).slice(0, 100)}… is too long or too deep for a commit`)
}

export const toText = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8')
export const toBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1')

/** The path as text. Throws where it is not UTF-8: it would be committed under another name. */
export function toPath(bytes: string): string {
  const text = toText(bytes)
  if (toBytes(text) !== bytes) throw new InvalidChange(`the name ${text} is not UTF-8`)
  return text
}

const joinName = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`)

// ---- Folders that are held open

export type Folder = AsyncDisposable & {
  /** From the top of the tree. */
  readonly path: string
  /** How the open folder is named, wherever it is moved to. */
  readonly here: string
}

const HAS_HANDLES = process.platform === 'linux'

/** A folder of the tree; undefined when there is none, or a link in its place. */
export async function openFolder(root: string, path: string): Promise<Folder | undefined> {
  let folder = await holdFolder(toBytes(root), '')
  for (const name of path.split('/').filter((part) => part !== '')) {
    if (folder === undefined) return undefined
    await using above = folder
    folder = await openBelow(above, name)
  }
  return folder
}

const openBelow = (folder: Folder, name: string) => holdFolder(`${folder.here}/${name}`, joinName(folder.path, name))

async function holdFolder(place: string, path: string): Promise<Folder | undefined> {
  const handle = await open(bytesOf(place), FOLDER).catch(ifGone)
  if (handle === undefined) return undefined
  const here = HAS_HANDLES ? `/proc/self/fd/${handle.fd}` : place
  return { path, here, [Symbol.asyncDispose]: () => handle.close() }
}

const namesOf = ({ here }: Folder): Promise<string[]> => readdir(bytesOf(`${here}/.`), { encoding: 'latin1' })

async function lookAt({ here }: Folder, name: string): Promise<Found | undefined> {
  const facts = await lstat(bytesOf(`${here}/${name}`), { bigint: true }).catch(ifGone)
  if (facts === undefined) return undefined
  const kind = kindOf(facts)
  return kind && { kind, stamp: kind === 'folder' ? 'folder' : stampOf(facts) }
}

type Facts = {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
  readonly mode: bigint
  readonly size: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

function kindOf(facts: Facts): FoundKind | undefined {
  if (facts.isFile()) return 'file'
  if (facts.isSymbolicLink()) return 'link'
  return facts.isDirectory() ? 'folder' : undefined
}

const stampOf = ({ mode, size, ino, mtimeNs, ctimeNs }: Facts) =>
  [mode, size, ino, mtimeNs, ctimeNs].map((fact) => fact.toString(36)).join('.')

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/** What a task has removed or replaced in between is gone. */
function ifGone(error: NodeJS.ErrnoException): undefined {
  if (!GONE.has(error.code ?? '')) throw error
}

const bytesOf = (path: string) => Buffer.from(path, 'latin1')

// ---- Contents

export type Taken = Found & { readonly isExecutable: boolean }

const MOST_FILE_BYTES = 8 * 1024 ** 3

/**
 * Copies what is at the path into a new file: of a link its target. Returns undefined when it is neither a file nor a link
 * any more. While the copy is made the original may change; the stamp is then one that no later look finds again.
 */
export async function takeContent(root: string, path: string, to: string): Promise<Taken | undefined> {
  const at = path.lastIndexOf('/')
  await using folder = await openFolder(root, path.slice(0, Math.max(at, 0)))
  if (folder === undefined) return undefined
  const name = path.slice(at + 1)
  const entry = await lookAt(folder, name)
  if (entry?.kind === 'link') {
    const target = await readlink(bytesOf(`${folder.here}/${name}`), { encoding: 'buffer' }).catch(ifGone)
    if (target === undefined) return undefined
    await writeFile(to, target, { flag: 'wx' })
    return { ...entry, isExecutable: false }
  }
  if (entry?.kind !== 'file') return undefined
  const handle = await open(bytesOf(`${folder.here}/${name}`), CONTENT).catch(ifGone)
  if (handle === undefined) return undefined
  try {
    const before = await handle.stat({ bigint: true })
    if (!before.isFile()) return undefined
    if (before.size > MOST_FILE_BYTES)
      throw new InvalidChange(`${toText(path)} holds ${before.size} bytes, more than ${MOST_FILE_BYTES} for one file`)
    // No further than the size that was checked: the file may grow while it is read.
    const content =
      before.size === 0n ? [] : handle.createReadStream({ autoClose: false, end: Number(before.size) - 1 })
    await pipeline(content, createWriteStream(to, { flags: 'wx' }))
    return { kind: 'file', stamp: stampOf(before), isExecutable: (before.mode & 0o100n) !== 0n }
  } finally {
    await handle.close()
  }
}
