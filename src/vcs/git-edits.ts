// What a task has changed in its workspace, as git stores it. The server walks the tree itself and copies what is new; git
// sees those copies alone, and of the workspace neither files nor attributes, filters or repositories in it.
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './cache.ts'
import { foldersAbove } from './check-changes.ts'
import { InvalidChange, ToolFailed } from './errors.ts'
import { runGit } from './git-tool.ts'
import { readTree } from './git-tree.ts'
import { NOT_OF_GIT } from './git-workspace.ts'
import type { Session } from './session.ts'
import { readChanges, type TreeMemory } from './tree-memory.ts'
import { type Found, takeContent, toBytes, toPath, toText } from './walk-tree.ts'
import { treeOf } from './workspaces.ts'

/** What a path holds; undefined is nothing. */
export type Blob = { readonly mode: string; readonly id: string } | undefined

/** One path, what the change was made from, and what it is to be. */
export type Edit = { readonly path: string; readonly before: Blob; readonly after: Blob }

const SUBMODULE = '160000'
const FOLDER = '040000'
const MOST_ASKED = 500 // stays far below the limit of an argument list

type Where = {
  readonly slot: string
  /** The tree that the workspace was filled with, or last committed as. */
  readonly baseline: string
  /** The folder that a commit may change. */
  readonly base: string
}

/** What is different, and what to remember of the workspace once that is committed. */
export async function readEdits(
  session: Session,
  { slot, baseline, base }: Where,
): Promise<{ edits: Edit[]; memory: TreeMemory }> {
  const tree = treeOf(slot)
  const { memory, found, changes, administrations } = await readChanges(slot, tree, {
    ...NOT_OF_GIT,
    base: toBytes(base),
  })
  if (changes.length === 0 && administrations.length === 0) return { edits: [], memory }
  const there = await readBaseline(session, baseline, [...changes.map(({ path }) => path), ...administrations])
  const isOfSubmodule = insideOf([...there].filter(([, blob]) => blob?.mode === SUBMODULE).map(([path]) => path))
  const mine = changes.filter(({ path }) => !isOfSubmodule(toText(path)))
  const added = mine.filter(({ path, after }) => after !== undefined && !there.has(toText(path)))
  const repositories = administrations.filter((path) => !isOfSubmodule(toText(path)))
  const isIgnored = await findIgnored(session, { tree, found }, [...added.map(({ path }) => path), ...repositories])
  const nested = repositories.find((path) => !isIgnored(path))
  if (nested !== undefined)
    throw new InvalidChange(`${toText(nested)} is of a repository of its own and cannot be committed`)
  const wanted = mine.filter(({ path, after }) => after !== undefined && after.kind !== 'folder' && !isIgnored(path))
  const taken = await takeAll(
    session,
    tree,
    wanted.map(({ path }) => path),
  )
  const edits: Edit[] = []
  for (const [path, { stamp, kind, blob }] of taken) {
    memory.set(path, { kind, stamp })
    const before = there.get(toText(path))
    if (before?.id !== blob?.id || before?.mode !== blob?.mode) edits.push({ path: toPath(path), before, after: blob })
  }
  for (const { path } of mine) {
    if (taken.has(path)) continue
    memory.delete(path)
    const before = there.get(toText(path))
    // What is a folder now, or is gone, or was replaced while it was looked at.
    if (before !== undefined) edits.push({ path: toPath(path), before, after: undefined })
  }
  return { edits, memory }
}

/** What the baseline has at the paths, and submodules above them. */
async function readBaseline(session: Session, baseline: string, paths: readonly string[]): Promise<Map<string, Blob>> {
  const wanted = [...new Set(paths.map(toText).flatMap((path) => [path, ...foldersAbove(path)]))]
  const isWhole = wanted.length > MOST_ASKED || wanted.some((path) => path.includes('\ufffd'))
  const there = new Map<string, Blob>()
  for await (const { mode, id, path } of readTree(session, isWhole ? ['-r', baseline] : [baseline, '--', ...wanted]))
    if (mode !== FOLDER) there.set(path, { mode, id })
  return there
}

function insideOf(folders: readonly string[]): (path: string) => boolean {
  const all = new Set(folders)
  return (path) => {
    if (all.size === 0) return false
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) if (all.has(path.slice(0, at))) return true
    return false
  }
}

type Look = { readonly tree: string; readonly found: ReadonlyMap<string, Found> }

/**
 * Which of the paths the repository ignores. Git answers it in a tree that holds nothing but copies of the files named
 * `.gitignore`.
 */
async function findIgnored(
  session: Session,
  { tree, found }: Look,
  paths: readonly string[],
): Promise<(path: string) => boolean> {
  const rules = [...found].filter(([path, { kind }]) => kind === 'file' && /(^|\/)\.gitignore$/.test(path))
  if (rules.length === 0 || paths.length === 0) return () => false
  await using folder = await temporaryFolder(session.folder)
  for (const [path] of rules) {
    const copy = join(folder.path, toPath(path))
    await mkdir(dirname(copy), { recursive: true })
    await takeContent(tree, path, copy)
  }
  // Names are taken as they are here, or not at all: what begins with `./` means nothing else.
  const literal = { GIT_LITERAL_PATHSPECS: '0' }
  const env = { GIT_WORK_TREE: folder.path, GIT_INDEX_FILE: join(folder.path, '.index'), ...literal }
  const input = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1')
  try {
    const said = await runGit(session, ['check-ignore', '--no-index', '--stdin', '-z'], { env, input })
    const ignored = new Set(said.toString('latin1').split('\0'))
    return (path) => ignored.has(`./${path}`)
  } catch (error) {
    if (error instanceof ToolFailed && error.exitCode === 1) return () => false // none is
    throw error
  }
}

type TakenBlob = Found & { readonly blob: Blob }

/** Stores what is at the paths now, in the mirror; what has gone away is left out. */
async function takeAll(session: Session, tree: string, paths: readonly string[]): Promise<Map<string, TakenBlob>> {
  await using folder = await temporaryFolder(session.folder)
  const taken: { path: string; file: string; mode: string; kind: Found['kind']; stamp: string }[] = []
  for (const [i, path] of paths.entries()) {
    const file = join(folder.path, `content-${i}`)
    const one = await takeContent(tree, path, file)
    if (one === undefined) continue
    const mode = one.kind === 'link' ? '120000' : one.isExecutable ? '100755' : '100644'
    taken.push({ path, file, mode, kind: one.kind, stamp: one.stamp })
  }
  const ids = await storeBlobs(
    session,
    taken.map(({ file }) => file),
  )
  return new Map(
    taken.map(({ path, mode, kind, stamp }, i) => [path, { kind, stamp, blob: { mode, id: ids[i] ?? '' } }]),
  )
}

/** The ids of the contents of the files, which are the server's own, in their order. */
export async function storeBlobs(session: Session, files: readonly string[]): Promise<string[]> {
  if (files.length === 0) return []
  if (files.some((file) => file.includes('\n'))) throw new InvalidChange('the name of a file to put holds a line feed')
  const input = files.map((file) => `${file}\n`).join('')
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths']
  const said = await runGit(session, args, { input, silenceMs: session.transferMs })
  return said.toString('utf8').split('\n')
}
