// What a hostile task leaves in its workspace. Each trap either runs `touch MARK` when somebody steps into it, or leads to a
// folder outside, `ELSEWHERE`, which nothing may change.
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from './git.ts'
import { say } from './ground.ts'
import { write } from './kit.ts'

export type Trap = {
  readonly name: string
  readonly set: (at: { readonly tree: string; readonly mark: string; readonly elsewhere: string }) => Promise<unknown>
  /** Whether the commit is refused; otherwise it is made, of plain files. */
  readonly isRefused?: boolean
}

const configOf = (mark: string) =>
  [
    `[core]\n\tfsmonitor = touch '${mark}'\n\tsshCommand = touch '${mark}'\n\tpager = touch '${mark}'\n\teditor = touch '${mark}'`,
    `[filter "x"]\n\tclean = touch '${mark}'; cat\n\tsmudge = touch '${mark}'; cat\n\tprocess = touch '${mark}'`,
    `[diff "x"]\n\ttextconv = touch '${mark}'\n\tcommand = touch '${mark}'\n[merge "x"]\n\tdriver = touch '${mark}'`,
    `[credential]\n\thelper = !touch '${mark}'\n[uploadpack]\n\tpackObjectsHook = touch '${mark}'\n`,
  ].join('\n')

/** A repository inside the tree whose every part runs something. */
async function armed(folder: string, mark: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await git(folder, 'init', '--quiet')
  await write(join(folder, 'a'))
  await git(folder, 'add', 'a')
  await git(folder, 'commit', '--quiet', '-m', 'inner')
  await write(join(folder, '.git', 'config'), configOf(mark))
  await write(join(folder, '.git', 'info', 'attributes'), '* filter=x diff=x merge=x\n')
  for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction', 'post-checkout']) {
    await write(join(folder, '.git', 'hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`)
    await chmod(join(folder, '.git', 'hooks', hook), 0o755)
  }
}

export const gitTraps: readonly Trap[] = [
  {
    name: 'a nested repository with a filter in info/attributes',
    isRefused: true,
    set: ({ tree, mark }) => armed(join(tree, 'sub'), mark),
  },
  {
    name: 'a nested repository by a file named .git',
    isRefused: true,
    set: async ({ tree, mark, elsewhere }) => {
      await armed(join(elsewhere, '..', 'armed'), mark)
      await write(join(tree, 'sub', '.git'), `gitdir: ${join(elsewhere, '..', 'armed', '.git')}\n`)
      await write(join(tree, 'sub', 'a'))
    },
  },
  {
    name: 'a nested repository behind a link named .git',
    isRefused: true,
    set: async ({ tree, mark, elsewhere }) => {
      await armed(join(elsewhere, '..', 'armed'), mark)
      await mkdir(join(tree, 'sub'))
      await symlink(join(elsewhere, '..', 'armed', '.git'), join(tree, 'sub', '.git'))
    },
  },
  ...['.GIT', '.Git', '.git.', '.git ', 'git~1', '.g\u200cit', '.git::$INDEX_ALLOCATION', '\uff0egit'].map((name) => ({
    name: `a nested repository under the name ${JSON.stringify(name)}`,
    isRefused: true,
    set: async ({ tree, mark }: { tree: string; mark: string }) => {
      await armed(join(tree, 'sub'), mark)
      await rename(join(tree, 'sub', '.git'), join(tree, 'sub', name))
    },
  })),
  {
    name: 'the name of an administration at the top, in capitals',
    isRefused: true,
    set: ({ tree, mark }) => write(join(tree, '.GIT', 'config'), configOf(mark)),
  },
  {
    name: 'settings, hooks and attributes in the .git of the workspace',
    set: async ({ tree, mark }) => {
      await write(join(tree, '.git', 'config'), configOf(mark))
      await write(join(tree, '.git', 'info', 'attributes'), '* filter=x\n')
      await write(join(tree, '.git', 'hooks', 'pre-commit'), `#!/bin/sh\ntouch '${mark}'\n`)
      await chmod(join(tree, '.git', 'hooks', 'pre-commit'), 0o755)
      await write(join(tree, '.gitattributes'), '* filter=x diff=x merge=x\n')
    },
  },
  {
    name: 'settings that are included under a condition',
    set: async ({ tree, mark, elsewhere }) => {
      await write(join(elsewhere, '..', 'included'), configOf(mark))
      const path = join(elsewhere, '..', 'included')
      await write(
        join(tree, '.git', 'config'),
        `[includeIf "gitdir:/"]\n\tpath = ${path}\n[include]\n\tpath = ${path}\n`,
      )
      await write(join(tree, '.gitattributes'), '* filter=x\n')
    },
  },
  {
    name: 'another object store',
    set: ({ tree, elsewhere }) => write(join(tree, '.git', 'objects', 'info', 'alternates'), `${elsewhere}\n`),
  },
  {
    name: 'a .git that is a file',
    set: async ({ tree, mark, elsewhere }) => {
      await armed(join(elsewhere, '..', 'armed'), mark)
      await rm(join(tree, '.git'), { recursive: true })
      await write(join(tree, '.git'), `gitdir: ${join(elsewhere, '..', 'armed', '.git')}\n`)
    },
  },
  {
    name: 'a .git that is a link',
    set: async ({ tree, mark, elsewhere }) => {
      await armed(join(elsewhere, '..', 'armed'), mark)
      await rm(join(tree, '.git'), { recursive: true })
      await symlink(join(elsewhere, '..', 'armed', '.git'), join(tree, '.git'))
    },
  },
  {
    name: 'submodules that update by a command',
    set: async ({ tree, mark }) => {
      const text = `[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch ${mark}\n\tupdate = !touch '${mark}'\n`
      await write(join(tree, '.gitmodules'), text)
      await mkdir(join(tree, 'x'))
    },
  },
  {
    name: 'rules of what is ignored behind links',
    set: async ({ tree, elsewhere }) => {
      await symlink(join(elsewhere, 'precious'), join(tree, '.gitignore'))
      await symlink(join(elsewhere, 'precious'), join(tree, '.gitattributes'))
    },
  },
  {
    name: 'submodules behind a link',
    isRefused: true,
    set: ({ tree, elsewhere }) => symlink(join(elsewhere, 'precious'), join(tree, '.gitmodules')),
  },
]

export const svnTraps: readonly Trap[] = [
  {
    name: 'a queue of work in .svn/wc.db',
    set: async ({ tree, elsewhere }) => {
      plantWork(tree, elsewhere)
      await rm(join(tree, 'kept'))
    },
  },
  {
    name: 'no .svn at all',
    set: ({ tree }) => rm(join(tree, '.svn'), { recursive: true }),
  },
  {
    name: 'a .svn that is a link',
    set: async ({ tree, elsewhere }) => {
      await rename(join(tree, '.svn'), join(elsewhere, '..', 'svn'))
      await symlink(join(elsewhere, '..', 'svn'), join(tree, '.svn'))
    },
  },
  {
    name: 'a working copy inside',
    isRefused: true,
    set: async ({ tree, elsewhere }) => {
      const other = join(elsewhere, '..', 'other')
      await say('svnadmin', ['create', other])
      await say('svn', ['checkout', '-q', `file://${other}`, join(tree, 'sub')])
    },
  },
  {
    name: 'externals',
    set: ({ tree, elsewhere }) =>
      say('svn', ['propset', '-q', 'svn:externals', `file://${elsewhere} outside`, tree]).catch(() => {}),
  },
  {
    name: 'a name of an administration in capitals',
    isRefused: true,
    set: ({ tree }) => write(join(tree, 'sub', '.SVN', 'entries')),
  },
]

/** Tells the working copy that a file outside is to be moved and removed: Subversion does so before anything else. */
export function plantWork(tree: string, elsewhere: string): void {
  const precious = `${relativeTo(tree, elsewhere)}/precious`
  for (const work of [`(file-move ${sized(precious)} ${sized('stolen')})`, `(file-remove ${sized(precious)})`]) {
    const sql = `insert into work_queue (work) values (cast('${work}' as blob))`
    execFileSync('sqlite3', [join(tree, '.svn', 'wc.db'), sql])
  }
}

const sized = (text: string) => `${Buffer.byteLength(text)} ${text}`
const relativeTo = (tree: string, to: string) =>
  `${tree
    .split('/')
    .slice(1)
    .map(() => '..')
    .join('/')}${to}`

/** For either program. */
export const traps: readonly Trap[] = [
  {
    name: 'a link to a file outside',
    set: ({ tree, elsewhere }) => symlink(join(elsewhere, 'precious'), join(tree, 'link')),
  },
  { name: 'a link to a folder outside', set: ({ tree, elsewhere }) => symlink(elsewhere, join(tree, 'link')) },
  {
    name: 'a folder that became a link to a folder outside',
    set: async ({ tree, elsewhere }) => {
      await rm(join(tree, 'folder'), { recursive: true })
      await symlink(elsewhere, join(tree, 'folder'))
    },
  },
  {
    name: 'a file that became a link to one outside',
    set: async ({ tree, elsewhere }) => {
      await rm(join(tree, 'kept'))
      await symlink(join(elsewhere, 'precious'), join(tree, 'kept'))
    },
  },
  {
    name: 'a link in circles',
    set: async ({ tree }) => {
      await symlink('.', join(tree, 'here'))
      await symlink('there', join(tree, 'there'))
    },
  },
  { name: 'a pipe', set: ({ tree }) => say('mkfifo', [join(tree, 'pipe')]) },
  { name: 'names that are options', set: ({ tree }) => write(join(tree, '--upload-pack=touch x'), 'x') },
  { name: 'names that are patterns', set: ({ tree }) => write(join(tree, ':(top)*'), 'x') },
  {
    name: 'folders too deep for a path',
    isRefused: true,
    set: async ({ tree }) => {
      execFileSync('sh', [
        '-c',
        'cd "$1"; i=0; while [ $i -lt 400 ]; do mkdir -p abcdefghij && cd -P abcdefghij 2>/dev/null; i=$((i+1)); done; echo x > x',
        'sh',
        tree,
      ])
    },
  },
  {
    name: 'a file that nobody may read',
    set: async ({ tree }) => {
      await writeFile(join(tree, 'closed'), 'x', { mode: 0o000 })
    },
  },
]
