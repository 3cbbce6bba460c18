// A workspace is a tree that is filled from the mirror through an index of its own, `index` in the slot. The folder
// `.git` inside the tree is for whoever works there: a small repository that borrows the mirror's objects, so that `git
// log`, `git commit` and `git push` do what one expects. It is written anew each time and never read here: its
// configuration could name programs to run, and commits made for the user carry his password.
import { copyFile, lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeTree } from './cache.ts'
import { mirrorOf, runGit } from './git-tool.ts'
import { treeish } from './git-tree.ts'
import type { Revision } from './repository.ts'
import type { Session } from './session.ts'
import { type Filler, treeOf } from './workspaces.ts'

const indexOf = (slot: string) => join(slot, 'index')

/** The variables with which git works on the files of a slot. */
export const slotEnvironment = (slot: string) => ({ GIT_INDEX_FILE: indexOf(slot), GIT_WORK_TREE: treeOf(slot) })

/** The tree as which the slot was last seen: as it was filled, or as it was committed. */
export const baselineOf = (slot: string) => join(slot, 'baseline')

export function gitFiller(session: Session, branch: string): Filler {
  const fill = async (slot: string, revision: Revision) => {
    const call = { env: slotEnvironment(slot), silenceMs: session.transferMs }
    // Compares each file with the index by its times, size and inode, and writes what differs.
    await runGit(session, ['read-tree', '--reset', '-u', treeish(revision)], call)
    await runGit(session, ['clean', '-ffdx', '--quiet'], call)
    await writeFile(baselineOf(slot), treeish(revision))
    await writeTaskRepository(session, slot, { branch, revision })
  }
  return {
    async create(slot, revision) {
      await mkdir(treeOf(slot))
      await fill(slot, revision)
    },
    async refresh(slot, revision) {
      // Git counts the files inside a submodule as the submodule's and would leave them.
      if (await exists(join(treeOf(slot), '.gitmodules'))) throw new Error('the tree may hold submodules')
      await removeTree(join(treeOf(slot), '.git'))
      await fill(slot, revision)
    },
  }
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function writeTaskRepository(
  session: Session,
  slot: string,
  { branch, revision }: { branch: string; revision: Revision },
): Promise<void> {
  const git = join(treeOf(slot), '.git')
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(git, name)), { recursive: true })
    await writeFile(join(git, name), text)
  }
  await write('HEAD', `ref: refs/heads/${branch}\n`)
  await write('objects/info/alternates', `${join(mirrorOf(session.folder), 'objects')}\n`)
  await mkdir(join(git, 'refs', 'heads'), { recursive: true })
  if (revision.number > 0) await write(`refs/heads/${branch}`, `${revision.id}\n`)
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
  await write(
    'config',
    `[core]
	repositoryformatversion = 0
	bare = false
[gc]
	auto = 0
[remote "origin"]
	url = ${quoted(session.location.url)}
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch ${quoted(branch)}]
	remote = origin
	merge = ${quoted(`refs/heads/${branch}`)}
`,
  )
  await copyFile(indexOf(slot), join(git, 'index'))
}
