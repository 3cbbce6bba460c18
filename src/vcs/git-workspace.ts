// A workspace is a tree that is filled from the mirror through an index of its own, `index` in the slot. Git writes the tree
// before a task has it and never afterwards: a tree that was used is filled again only when nothing in it has changed.
// The folder `.git` inside is for the task: a small repository that borrows the mirror's objects, so that `git
// log`, `git commit` and `git push` do what one expects. It is replaced each time and never read here.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeTree, throwAway } from './cache.ts'
import { mirrorOf, runGit } from './git-tool.ts'
import { treeish } from './git-tree.ts'
import type { Revision } from './repository.ts'
import type { Session } from './session.ts'
import { isAsLeft, rememberTree } from './tree-memory.ts'
import { type Filler, treeOf } from './workspaces.ts'

const indexOf = (slot: string) => join(slot, 'index')

/** The tree as which the slot was last seen: as it was filled, or as it was committed. */
export const baselineOf = (slot: string) => join(slot, 'baseline')

/** Where the objects are that the task's repository borrows. */
export const objectsOf = ({ folder }: Session) => join(mirrorOf(folder), 'objects')

/** The administration that the task is given. */
export const NOT_OF_GIT = { except: ['.git'] }

export function gitFiller(session: Session, branch: string): Filler {
  const fill = async (slot: string, revision: Revision) => {
    const env = { GIT_INDEX_FILE: indexOf(slot), GIT_WORK_TREE: treeOf(slot) }
    // Compares each file with the index by its times, size and inode, and writes what differs.
    const args = ['read-tree', '--reset', '-u', treeish(revision)]
    await runGit(session, args, { env, silenceMs: session.transferMs })
    await writeFile(baselineOf(slot), treeish(revision))
    await writeTaskRepository(session, slot, { branch, revision })
    await rememberTree(slot, treeOf(slot), NOT_OF_GIT)
  }
  return {
    async create(slot, revision) {
      await mkdir(treeOf(slot))
      await fill(slot, revision)
    },
    async refresh(slot, revision) {
      if (await isAsLeft(slot, treeOf(slot), NOT_OF_GIT)) {
        // After a commit the index has to know what was new in it.
        const baseline = await readFile(baselineOf(slot), 'utf8')
        await runGit(session, ['read-tree', '-i', '-m', baseline], { env: { GIT_INDEX_FILE: indexOf(slot) } })
        await removeTree(join(treeOf(slot), '.git'))
      } else {
        await throwAway(session.folder, treeOf(slot))
        await rm(indexOf(slot), { force: true })
        await mkdir(treeOf(slot))
      }
      await fill(slot, revision)
    },
  }
}

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
  await write('objects/info/alternates', `${objectsOf(session)}\n`)
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
