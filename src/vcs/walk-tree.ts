// The server's own look at a tree that a task may write, perhaps at this moment. Each folder is opened by its parent's handle,
// and each name is looked up in an open folder, so that a link that a task puts in the place of a folder leads nowhere.
//
// Names are byte strings ("latin1" of Node): a name need not be UTF-8, and must not be mistaken for another.
import { closeSync, constants, createWriteStream, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { InvalidChange } from './errors.ts'

/** `other` is what version control leaves out: pipes, sockets, devices. */
export type FoundKind = 'file' | 'link' | 'folder' | 'other'

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
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const CONTENT = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Everything in the tree. */
export async function walkTree(
  root: string,
  { base = '', except = [], isWhole = false }: TreeOptions = {},
): Promise<Walked> {
  const found = new Map<string, Found>()
  const administrations: string[] = []
  const breathe = breather()
  const look = (folder: Folder, name: string): string | undefined => {
    const path = joinName(folder.path, name)
    if (folder.path === '' && except.includes(name)) return undefined
    if (!isWhole && isAdministration(name)) return void administrations.push(path)
    const entry = lookAt(folder, name)
    if (entry === undefined) return undefined
    if (found.size >= MOST_ENTRIES) throw new InvalidChange(`the workspace holds more than ${MOST_ENTRIES} files`)
    found.set(path, entry)
    return entry.kind === 'folder' ? name : undefined
  }
  const walk = async (folder: Folder, depth: number): Promise<void> => {
    const inner: string[] = []
    for (const name of readdirSync(bytesOf(`${folder.here}/.`), { encoding: 'latin1' })) {
      checkName(joinName(folder.path, name), depth)
      const below = look(folder, name)
      if (below !== undefined) inner.push(below)
      await breathe()
    }
    for (const name of inner) {
      using below = openBelow(folder, name)
      if (below !== undefined) await walk(below, depth + 1)
    }
  }
  using top = openFolder(root, base)
  if (top !== undefined) await walk(top, 0)
  return { found, administrations: administrations.sort() }
}

const BREATH_MS = 5

/** Looks at a local disk are quicker than asking for them: they are made at once, and others have their turn in between. */
function breather(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < BREATH_MS) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now()
        resolve()
      }),
    )
  }
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

type Folder = Disposable & {
  /** From the top of the tree. */
  readonly path: string
  /** How the open folder is named, wherever it is moved to. */
  readonly here: string
}

const HAS_HANDLES = process.platform === 'linux'

/** A folder of the tree; undefined when there is none, or a link in its place. */
function openFolder(root: string, path: string): Folder | undefined {
  let folder = holdFolder(toBytes(root), '')
  for (const name of path.split('/').filter((part) => part !== '')) {
    if (folder === undefined) return undefined
    using above = folder
    folder = openBelow(above, name)
  }
  return folder
}

const openBelow = (folder: Folder, name: string) => holdFolder(`${folder.here}/${name}`, joinName(folder.path, name))

function holdFolder(place: string, path: string): Folder | undefined {
  const handle = unlessGone(() => openSync(bytesOf(place), FOLDER))
  if (handle === undefined) return undefined
  const here = HAS_HANDLES ? `/proc/self/fd/${handle}` : place
  return { path, here, [Symbol.dispose]: () => closeSync(handle) }
}

function lookAt({ here }: Folder, name: string): Found | undefined {
  const facts = unlessGone(() => lstatSync(bytesOf(`${here}/${name}`), { bigint: true }))
  if (facts === undefined) return undefined
  const kind = kindOf(facts)
  return { kind, stamp: kind === 'folder' ? kind : stampOf(facts) }
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

function kindOf(facts: Facts): FoundKind {
  if (facts.isFile()) return 'file'
  if (facts.isSymbolicLink()) return 'link'
  return facts.isDirectory() ? 'folder' : 'other'
}

const stampOf = ({ mode, size, ino, mtimeNs, ctimeNs }: Facts) =>
  [mode, size, ino, mtimeNs, ctimeNs].map((fact) => fact.toString(36)).join('.')

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/** What a task has removed or replaced in between is gone. */
function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    return ifGone(error)
  }
}

function ifGone(error: unknown): undefined {
  if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
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
  using folder = openFolder(root, path.slice(0, Math.max(at, 0)))
  if (folder === undefined) return undefined
  const name = path.slice(at + 1)
  const entry = lookAt(folder, name)
  if (entry?.kind === 'link') {
    const target = unlessGone(() => readlinkSync(bytesOf(`${folder.here}/${name}`), { encoding: 'buffer' }))
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
