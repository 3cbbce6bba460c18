import type { Revision } from './repository.ts'
import { collect } from './repository.ts'
import type { Session } from './session.ts'
import { readSvn, runSvn } from './svn-tool.ts'
import { target } from './svn-tree.ts'
import { type Filler, treeOf } from './workspaces.ts'
import { child, type Element } from './xml.ts'

/** Fills slots with working copies of `base`. Externals are not followed: they would bring in other repositories. */
export function svnFiller(session: Session, base: string): Filler {
  const limits = { silenceMs: session.transferMs }
  const run = (...args: string[]) => runSvn(session, ['svn', ...args], limits)
  return {
    async create(slot, revision) {
      await run('checkout', '--quiet', '--ignore-externals', ...at(revision), target(base, '', revision), treeOf(slot))
    },
    async refresh(slot, revision) {
      const tree = `${treeOf(slot)}@`
      if ((await readStatus(session, slot, ['--no-ignore'])).length > 0) {
        await run('cleanup', tree)
        await run('revert', '--quiet', '--recursive', '--remove-added', tree)
        await run('cleanup', '--quiet', '--remove-unversioned', '--remove-ignored', tree)
      }
      // Not `update`: a task may have switched folders of the tree or made it sparse, and the base may be a new folder of
      // the old name.
      const wanted = ['--ignore-externals', '--ignore-ancestry', '--set-depth', 'infinity', ...at(revision)]
      // Of its last argument `switch` takes an @ as it is.
      await run('switch', '--quiet', '--accept', 'theirs-full', ...wanted, target(base, '', revision), treeOf(slot))
      const rest = await readStatus(session, slot, ['--no-ignore'])
      if (rest.length > 0) throw new Error(`the working copy cannot be cleaned: ${rest[0]?.path} is ${rest[0]?.item}`)
    },
  }
}

const at = ({ number }: Revision) => ['--revision', String(number)]

/** `item` is what happened to the content: normal, modified, added, deleted, unversioned, missing, obstructed, … */
export type Status = {
  readonly path: string
  readonly item: string
  readonly isConflicted: boolean
}

/** Everything in the working copy that is not as in the repository. */
export async function readStatus(session: Session, slot: string, options: readonly string[] = []): Promise<Status[]> {
  const elements = await collect(readSvn(session, ['status', ...options, `${treeOf(slot)}@`], ['entry']))
  return elements.map(readEntry).filter(({ item }) => item !== 'external')
}

function readEntry(element: Element): Status {
  const { item = '', 'tree-conflicted': tree } = child(element, 'wc-status')?.attributes ?? {}
  const isConflicted = tree === 'true' || item === 'conflicted' || item === 'incomplete'
  return { path: element.attributes['path'] ?? '', item, isConflicted }
}
