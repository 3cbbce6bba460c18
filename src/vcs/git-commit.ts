// Commits are made in the mirror, without a checkout, and pushed with the condition that the branch is still where it was
// when they were made. Subversion merges commits that touch different files; here the same is done by hand: the changes
// are put on top of the youngest commit, provided that every path they touch is there as it was in their base.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './cache.ts'
import { checkChanges, contentFile, foldersAbove } from './check-changes.ts'
import { InvalidChange, OutOfDate, PathNotFound } from './errors.ts'
import { type Blob, type Edit, readEdits, storeBlobs } from './git-edits.ts'
import { runGit } from './git-tool.ts'
import { readTree, treeish } from './git-tree.ts'
import { baselineOf } from './git-workspace.ts'
import { joinPath } from './location.ts'
import { checkMarker, readPerson, withTrailer } from './message.ts'
import type { ChangesOptions, CommitOptions, FileChange, Revision } from './repository.ts'
import { nameOf, type Session } from './session.ts'
import { rememberCommit } from './tree-memory.ts'

/** The branch as the commit sees it; `refresh` asks the repository. */
export type Branch = { readonly name: string; readonly base: string; readonly refresh: () => Promise<Revision> }

const ATTEMPTS = 10 // each lost only to somebody else's successful push
const PATHS_PER_CALL = 500 // stays far below the limit of an argument list

/** Commits what is different in the slot; undefined when nothing is. */
export async function commitSlot(
  session: Session,
  branch: Branch,
  { slot, ...options }: CommitOptions & { readonly slot: string },
): Promise<Revision | undefined> {
  const baseline = await readFile(baselineOf(slot), 'utf8')
  const { edits, memory } = await readEdits(session, { slot, baseline, base: branch.base })
  if (edits.length === 0) return undefined
  let isOnBaseline = false
  const prepare = async (tip: Revision) => {
    isOnBaseline = treeish(tip) === baseline
    return edits
  }
  const committed = await push(session, branch, { ...options, prepare })
  await writeFile(baselineOf(slot), isOnBaseline ? committed.id : await treeWith(session, baseline, edits))
  await rememberCommit(slot, memory)
  return committed
}

/** One commit of the changes, on top of the youngest, whatever else happened since their base. */
export async function commitChanges(session: Session, branch: Branch, options: ChangesOptions): Promise<Revision> {
  const changes = checkChanges('git', options.changes).map((change) => ({
    ...change,
    path: joinPath(branch.base, change.path),
  }))
  const blobs = await writeBlobs(session, changes)
  const prepare = (tip: Revision) => planEdits(session, { changes, blobs, base: options.base ?? tip })
  return push(session, branch, { ...options, prepare })
}

/** The ids of the contents, in the order of the changes. */
async function writeBlobs(session: Session, changes: readonly FileChange[]): Promise<ReadonlyMap<string, string>> {
  await using folder = await temporaryFolder(session.folder)
  const files = new Map<string, string>()
  for (const [i, change] of changes.entries()) {
    if (change.type === 'put')
      files.set(change.path, await contentFile(change.content, join(folder.path, `content-${i}`)))
  }
  const ids = await storeBlobs(session, [...files.values()])
  return new Map([...files.keys()].map((path, i) => [path, ids[i] ?? '']))
}

type Plan = {
  readonly changes: readonly FileChange[]
  readonly blobs: ReadonlyMap<string, string>
  readonly base: Revision
}

async function planEdits(session: Session, { changes, blobs, base }: Plan): Promise<Edit[]> {
  const there = await readEntries(
    session,
    treeish(base),
    changes.map(({ path }) => path),
  )
  const inside = new Map<string, string[]>()
  for (const path of there.keys()) {
    for (const folder of foldersAbove(path)) {
      const paths = inside.get(folder)
      if (paths) paths.push(path)
      else inside.set(folder, [path])
    }
  }
  const edits = new Map<string, Edit>()
  for (const { type, path } of changes) {
    if (type !== 'delete') continue
    const gone = there.has(path) ? [path] : (inside.get(path) ?? [])
    if (gone.length === 0) throw new PathNotFound(`${path} is to be deleted, but does not exist`)
    for (const one of gone) edits.set(one, { path: one, before: there.get(one), after: undefined })
  }
  for (const change of changes) {
    const { type, path } = change
    const isFile = there.has(path) && !edits.has(path)
    if (type === 'mkdir' && isFile) throw new InvalidChange(`${path} is a file, not a folder`)
    if (type !== 'put') continue
    if (inside.get(path)?.some((one) => !edits.has(one))) throw new InvalidChange(`${path} is a folder, not a file`)
    const before = there.get(path)
    const mode = modeFor(change.isExecutable, before)
    edits.set(path, { path, before, after: { mode, id: blobs.get(path) ?? '' } })
  }
  await checkFolders(session, treeish(base), [...edits.values()])
  return [...edits.values()]
}

function modeFor(isExecutable: boolean | undefined, before: Blob): string {
  if (isExecutable === undefined) return before?.mode === '100755' ? '100755' : '100644'
  return isExecutable ? '100755' : '100644'
}

/** What lies at the paths and below them. */
async function readEntries(session: Session, tree: string, paths: readonly string[]): Promise<Map<string, Blob>> {
  const entries = new Map<string, Blob>()
  for (let i = 0; i < paths.length; i += PATHS_PER_CALL) {
    const some = paths.slice(i, i + PATHS_PER_CALL)
    for await (const { mode, id, path } of readTree(session, ['-r', tree, '--', ...some]))
      entries.set(path, { mode, id })
  }
  return entries
}

/** Throws when a folder in which something is put is a file, unless the same commit removes it. */
async function checkFolders(session: Session, tree: string, edits: readonly Edit[]): Promise<void> {
  const gone = new Set(edits.filter(({ after }) => !after).map(({ path }) => path))
  const folders = new Set(edits.filter(({ after }) => after).flatMap(({ path }) => foldersAbove(path)))
  const wanted = [...folders]
  for (let i = 0; i < wanted.length; i += PATHS_PER_CALL) {
    for await (const { mode, path } of readTree(session, [tree, '--', ...wanted.slice(i, i + PATHS_PER_CALL)])) {
      if (mode !== '040000' && folders.has(path) && !gone.has(path)) {
        throw new InvalidChange(`${path} is a file, not a folder`)
      }
    }
  }
}

type Push = CommitOptions & { readonly prepare: (tip: Revision) => Promise<Edit[]> }

async function push(session: Session, branch: Branch, { prepare, ...options }: Push): Promise<Revision> {
  for (let attempt = 1; ; attempt++) {
    const tip = await branch.refresh()
    const edits = await prepare(tip)
    await checkCurrent(session, tip, edits)
    const id = await makeCommit(session, tip, { ...options, edits })
    const ref = `refs/heads/${branch.name}`
    const expected = `--force-with-lease=${ref}:${tip.number === 0 ? '' : tip.id}`
    try {
      const call = { silenceMs: session.transferMs }
      await runGit(
        session,
        ['push', '--quiet', '--no-verify', expected, '--', session.location.url, `${id}:${ref}`],
        call,
      )
      return { number: tip.number + 1, id }
    } catch (error) {
      if (!(error instanceof OutOfDate) || attempt >= ATTEMPTS) throw error
    }
  }
}

/** Each path must be in the youngest commit as it was when the change was made. */
async function checkCurrent(session: Session, tip: Revision, edits: readonly Edit[]): Promise<void> {
  const there = await readEntries(
    session,
    treeish(tip),
    edits.map(({ path }) => path),
  )
  const outdated = (path: string) =>
    new OutOfDate(`${nameOf(session)}: ${path} has changed since, in ${tip.id} or before`)
  const touched = new Set(edits.map(({ path }) => path))
  for (const { path, before } of edits) {
    const now = there.get(path)
    if (now?.id !== before?.id || now?.mode !== before?.mode) throw outdated(path)
  }
  // Something has come into being below a path that is a file in the commit, or went away with its folder.
  for (const path of there.keys()) if (!touched.has(path)) throw outdated(path)
  try {
    await checkFolders(session, treeish(tip), edits)
  } catch (error) {
    throw error instanceof InvalidChange ? new OutOfDate(`${nameOf(session)}: ${error.message}`) : error
  }
}

async function makeCommit(
  session: Session,
  tip: Revision,
  { edits, message, marker, author }: CommitOptions & { readonly edits: readonly Edit[] },
): Promise<string> {
  const tree = await treeWith(session, treeish(tip), edits)
  const by = readPerson(author ?? 'Millrace')
  const people = {
    GIT_AUTHOR_NAME: by.name,
    GIT_AUTHOR_EMAIL: by.email,
    GIT_COMMITTER_NAME: 'Millrace',
    GIT_COMMITTER_EMAIL: 'Millrace@localhost',
  }
  const parents = tip.number === 0 ? [] : ['-p', tip.id]
  const text = withTrailer(message, checkMarker(marker))
  const said = await runGit(session, ['commit-tree', tree, ...parents], { env: people, input: text })
  return said.toString('utf8').trim()
}

/** The tree with the edits, made in an index of its own. */
async function treeWith(session: Session, tree: string, edits: readonly Edit[]): Promise<string> {
  await using folder = await temporaryFolder(session.folder)
  const env = { GIT_INDEX_FILE: join(folder.path, 'index') }
  const none = '0'.repeat(40)
  // A name that is no UTF-8 was read with other characters in it, and would be written so.
  const unreadable = edits.find(({ path }) => path.includes('\ufffd'))
  if (unreadable) throw new InvalidChange(`the name ${unreadable.path} is not UTF-8`)
  // Removals first: a file may become a folder.
  const ordered = [...edits].sort((a, b) => Number(a.after !== undefined) - Number(b.after !== undefined))
  const input = ordered.map(({ path, after }) => `${after?.mode ?? '0'} ${after?.id ?? none}\t${path}\0`).join('')
  await runGit(session, ['read-tree', tree], { env })
  await runGit(session, ['update-index', '-z', '--index-info'], { env, input })
  const made = (await runGit(session, ['write-tree'], { env })).toString('utf8').trim()
  // Git leaves out the names that it reserves, without an error.
  const added = edits.filter(({ after }) => after !== undefined)
  const there = await readEntries(
    session,
    made,
    added.map(({ path }) => path),
  )
  const missing = added.find(({ path, after }) => there.get(path)?.id !== after?.id)
  if (missing !== undefined) throw new InvalidChange(`${missing.path} is a name that git reserves; rename it`)
  return made
}
