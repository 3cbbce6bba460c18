// A slot holds two trees: `base`, a working copy that only the server touches, and `tree`, a copy of it for the task, which
// has an administration of its own. Subversion runs in `base` alone: what a task writes into `.svn` could make it move files
// anywhere.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { applyChanges } from './apply-changes.ts'
import { temporaryFolder, throwAway } from './cache.ts'
import { InvalidChange } from './errors.ts'
import type { Revision } from './repository.ts'
import { collect } from './repository.ts'
import type { Session } from './session.ts'
import { readSvn, runSvn } from './svn-tool.ts'
import { target } from './svn-tree.ts'
import { changesOf, isAsFilled, readChanges, rememberCommit, rememberTree } from './tree-memory.ts'
import { type Found, toText, walkTree } from './walk-tree.ts'
import { type Filler, treeOf } from './workspaces.ts'
import { child, type Element } from './xml.ts'

/** Fills slots with working copies of `from`. Externals are not followed: they would bring in other repositories. */
export function svnFiller(session: Session, from: string): Filler {
  const limits = { silenceMs: session.transferMs }
  const run = (...args: string[]) => runSvn(session, ['svn', ...args], limits)
  return {
    async create(slot, revision) {
      await run('checkout', '--quiet', '--ignore-externals', ...at(revision), target(from, '', revision), baseOf(slot))
      await copyTree(slot)
    },
    async refresh(slot, revision) {
      // After a commit the administration of the tree lacks what that of the base has got.
      const isClean = await isAsFilled(slot, treeOf(slot))
      const before = await walkTree(baseOf(slot), { isWhole: true })
      if ((await readStatus(session, slot, ['--no-ignore'])).length > 0)
        throw new Error('the working copy is not clean')
      // Not `update`: the base may be a new folder of the old name.
      const wanted = ['--ignore-externals', '--ignore-ancestry', '--set-depth', 'infinity', ...at(revision)]
      // Of its last argument `switch` takes an @ as it is.
      await run('switch', '--quiet', '--accept', 'theirs-full', ...wanted, target(from, '', revision), baseOf(slot))
      const rest = await readStatus(session, slot, ['--no-ignore'])
      if (rest.length > 0) throw new Error(`the working copy cannot be cleaned: ${rest[0]?.path} is ${rest[0]?.item}`)
      if (!isClean) {
        await throwAway(session.folder, treeOf(slot))
        return copyTree(slot)
      }
      await copyChanges(session, slot, before.found)
    },
  }
}

/** The working copy that no task sees. */
export const baseOf = (slot: string) => join(slot, 'base')

async function copyTree(slot: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', '--', baseOf(slot), treeOf(slot)], { env: { PATH: '/usr/bin:/bin' } })
  await rememberTree(slot, treeOf(slot))
}

const at = ({ number }: Revision) => ['--revision', String(number)]

/** Brings the tree, which is as it was filled, to what the base is now. */
async function copyChanges(session: Session, slot: string, before: ReadonlyMap<string, Found>): Promise<void> {
  const { found } = await walkTree(baseOf(slot), { isWhole: true })
  await using drafts = await temporaryFolder(session.folder)
  const changes = changesOf(before, found)
  await applyChanges(changes, { from: baseOf(slot), to: treeOf(slot), drafts: drafts.path })
  await rememberTree(slot, treeOf(slot))
}

/**
 * Brings the base to what the task has made of the tree: files, links and folders, and no administration. Returns where
 * there are links in it.
 */
export async function takeOver(session: Session, slot: string): Promise<Set<string>> {
  const { memory, found, changes, administrations } = await readChanges(slot, treeOf(slot), {})
  await using drafts = await temporaryFolder(session.folder)
  const copied = await applyChanges(changes, { from: treeOf(slot), to: baseOf(slot), drafts: drafts.path })
  for (const { path, after } of changes) {
    const now = copied.get(path) ?? (after?.kind === 'folder' ? found.get(path) : undefined)
    if (now === undefined) memory.delete(path)
    else memory.set(path, now)
  }
  await rememberCommit(slot, memory)
  if (administrations.length > 0) await refuseRepositories(session, slot, administrations)
  const links = [...found].filter(([, { kind }]) => kind === 'link')
  return new Set(links.map(([path]) => join(baseOf(slot), toText(path))))
}

/** Of repositories inside the tree only those may stay that Subversion is told to ignore. */
async function refuseRepositories(session: Session, slot: string, administrations: readonly string[]): Promise<void> {
  const status = await readStatus(session, slot, ['--no-ignore'])
  const ignored = status.filter(({ item }) => item === 'ignored').map(({ path }) => `${path}/`)
  const nested = administrations
    .map(toText)
    .find((path) => !ignored.some((folder) => join(baseOf(slot), path).startsWith(folder)))
  if (nested === undefined) return
  throw new InvalidChange(`${nested} is of a repository of its own and cannot be committed`)
}

/** `item` is what happened to the content: normal, modified, added, deleted, unversioned, missing, obstructed, … */
export type Status = {
  readonly path: string
  readonly item: string
  readonly isConflicted: boolean
}

/** Everything in the working copy that is not as in the repository. */
export async function readStatus(session: Session, slot: string, options: readonly string[] = []): Promise<Status[]> {
  const elements = await collect(
    readSvn(session, ['status', '--ignore-externals', ...options, `${baseOf(slot)}@`], ['entry']),
  )
  return elements.map(readEntry).filter(({ item }) => item !== 'external')
}

function readEntry(element: Element): Status {
  const { item = '', 'tree-conflicted': tree } = child(element, 'wc-status')?.attributes ?? {}
  const isConflicted = tree === 'true' || item === 'conflicted' || item === 'incomplete'
  return { path: element.attributes['path'] ?? '', item, isConflicted }
}
