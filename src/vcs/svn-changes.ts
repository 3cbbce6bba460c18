// One revision without a working copy. `svnmucc` takes a list of actions and makes one transaction of them; the base
// revision decides what is out of date.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './cache.ts'
import { checkChanges, contentFile, foldersAbove } from './check-changes.ts'
import { InvalidChange, PathNotFound, ToolFailed } from './errors.ts'
import { below, decodePath, encodePath } from './location.ts'
import type { ChangesOptions, EntryKind, FileChange, Revision } from './repository.ts'
import type { Session } from './session.ts'
import { describeCommit, readCommitted } from './svn-commit.ts'
import { kindOf } from './svn-log.ts'
import { committing, readSvn, runSvn } from './svn-tool.ts'
import { target } from './svn-tree.ts'
import { textOf } from './xml.ts'

export async function commitChanges(
  session: Session,
  base: string,
  options: ChangesOptions & { readonly base: Revision },
): Promise<Revision> {
  const changes = checkChanges('svn', options.changes)
  const kinds = await readKinds(session, base, changes, options.base)
  await using folder = await temporaryFolder(session.folder)
  const actions = await writeActions({ changes, kinds, base, folder: folder.path })
  const file = join(folder.path, 'actions')
  if (actions.some((word) => word.includes('\n'))) throw new InvalidChange('a path holds a line feed')
  await writeFile(file, actions.map((word) => `${word}\n`).join(''))
  const described = await describeCommit(session, options, folder.path)
  const args = [...described, '--revision', String(options.base.number), '--extra-args', file]
  const limits = { silenceMs: session.transferMs }
  const said = await committing(() => runSvn(session, ['svnmucc', ...args], limits))
  const committed = readCommitted(said, /^r(\d+) committed/m)
  if (!committed) throw new ToolFailed('svnmucc', 0, `it does not say what it committed: ${said.toString('utf8')}`)
  return committed
}

type Kinds = ReadonlyMap<string, EntryKind>

/** What the paths and the folders above them are in the base, asked with one program for all. */
async function readKinds(
  session: Session,
  base: string,
  changes: readonly FileChange[],
  revision: Revision,
): Promise<Kinds> {
  const paths = new Set(changes.flatMap(({ path }) => [...foldersAbove(path), path]))
  const kinds = new Map<string, EntryKind>()
  await using folder = await temporaryFolder(session.folder)
  const file = join(folder.path, 'targets')
  await writeFile(file, [...paths].map((path) => `${target(base, path, revision)}\n`).join(''))
  try {
    for await (const element of readSvn(session, ['info', '--targets', file], ['entry'])) {
      const path = below(decodePath(base), decodePath(textOf(element, 'url') ?? ''))
      if (path !== undefined) kinds.set(path, kindOf(element.attributes['kind']))
    }
  } catch (error) {
    // Some are missing, and that is an answer too; the rest was told before.
    if (!(error instanceof PathNotFound)) throw error
  }
  return kinds
}

type Plan = {
  readonly changes: readonly FileChange[]
  readonly kinds: Kinds
  readonly base: string
  readonly folder: string
}

/** Deletes first, then folders from above to below, then files: so each finds its place as it needs it. */
async function writeActions({ changes, kinds, base, folder }: Plan): Promise<string[]> {
  const deleted = new Set(changes.filter(({ type }) => type === 'delete').map(({ path }) => path))
  const isGone = (path: string) => deleted.has(path) || foldersAbove(path).some((folder) => deleted.has(folder))
  const kindNow = (path: string) => (isGone(path) ? undefined : kinds.get(path))
  const url = (path: string) => `${base}/${encodePath(path)}`
  const actions: string[] = []
  for (const path of deleted) {
    if (!kinds.has(path)) throw new PathNotFound(`${path} is to be deleted, but does not exist`)
    actions.push('rm', url(path))
  }
  const rest = changes.filter(({ type }) => type !== 'delete')
  const folders = new Set(
    rest.flatMap(({ path, type }) => [...foldersAbove(path), ...(type === 'mkdir' ? [path] : [])]),
  )
  for (const path of [...folders].sort((a, b) => a.split('/').length - b.split('/').length)) {
    if (kindNow(path) === 'file') throw new InvalidChange(`${path} is a file, not a folder`)
    if (kindNow(path) === undefined) actions.push('mkdir', url(path))
  }
  for (const [i, change] of rest.entries()) {
    if (change.type !== 'put') continue
    if (kindNow(change.path) === 'folder') throw new InvalidChange(`${change.path} is a folder, not a file`)
    actions.push('put', await contentFile(change.content, join(folder, `content-${i}`)), url(change.path))
    if (change.isExecutable === true) actions.push('propset', 'svn:executable', '*', url(change.path))
    if (change.isExecutable === false && kindNow(change.path)) {
      actions.push('propdel', 'svn:executable', url(change.path))
    }
  }
  if (actions.length === 0) throw new InvalidChange('the folders that are to be made exist already')
  return actions
}
