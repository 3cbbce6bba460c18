import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './cache.ts'
import { InvalidChange } from './errors.ts'
import { checkMarker, cleanMessage, MARK_PREFIX, readPerson } from './message.ts'
import type { CommitOptions, Revision, Workspace } from './repository.ts'
import type { Session } from './session.ts'
import { committing, runSvn } from './svn-tool.ts'
import { baseOf, readStatus, takeOver } from './svn-workspace.ts'

/** Commits what is different in the workspace; undefined when nothing is. */
export async function commitWorkspace(
  session: Session,
  { slot }: Workspace,
  options: CommitOptions,
): Promise<Revision | undefined> {
  const links = await takeOver(session, slot)
  await using folder = await temporaryFolder(session.folder)
  if (!(await schedule(session, { slot, links, folder: folder.path }))) return undefined
  const described = await describeCommit(session, options, folder.path)
  const args = ['--force-log', '--encoding', 'UTF-8', ...described, `${baseOf(slot)}@`]
  const limits = { silenceMs: session.transferMs }
  const said = await committing(() => runSvn(session, ['svn', 'commit', ...args], limits))
  return readCommitted(said, /Committed revision (\d+)\./)
}

type Schedule = { readonly slot: string; readonly links: ReadonlySet<string>; readonly folder: string }

/**
 * Tells the working copy what a person would: what is new, what is gone, what became something else. Returns whether
 * there is anything to commit.
 */
async function schedule(session: Session, { slot, links, folder }: Schedule): Promise<boolean> {
  // Subversion looks into the folder that a link leads to when the link stands in the place of a folder.
  const found = (await readStatus(session, slot)).filter(({ path }) => !isBelow(path, links))
  const conflict = found.find(({ isConflicted }) => isConflicted)
  if (conflict) throw new InvalidChange(`${conflict.path} is in conflict`)
  const paths = (...items: string[]) => found.filter(({ item }) => items.includes(item)).map(({ path }) => path)
  const run = async (paths: readonly string[], ...args: string[]) => {
    if (paths.length === 0) return
    const file = join(folder, 'targets')
    // One path in a line, and an @ behind each, so that one in a name means nothing.
    if (paths.some((path) => path.includes('\n'))) throw new InvalidChange('a file name holds a line feed')
    await writeFile(file, paths.map((path) => `${path}@\n`).join(''))
    await runSvn(session, ['svn', ...args, '--quiet', '--targets', file])
  }
  await run(paths('missing'), 'delete', '--force')
  await run(paths('obstructed'), 'delete', '--force', '--keep-local')
  const added = paths('unversioned', 'obstructed')
  const add = ['add', '--force', '--no-auto-props']
  await run(
    added.filter((path) => links.has(path)),
    ...add,
    '--depth',
    'empty',
  )
  await run(
    added.filter((path) => !links.has(path)),
    ...add,
  )
  return found.length > 0
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    if (folders.has(path.slice(0, at))) return true
  return false
}

/** The options that say why and by whom, for `svn` and `svnmucc` alike. */
export async function describeCommit(
  session: Session,
  { message, marker, author }: CommitOptions,
  folder: string,
): Promise<string[]> {
  const file = join(folder, 'message')
  await writeFile(file, cleanMessage(message))
  const described = ['--file', file, '--with-revprop', `${MARK_PREFIX}cause=${checkMarker(marker)}`]
  if (author === undefined) return described
  // A server writes the user whose password it has seen. Without one, as with file://, the name that is given counts.
  const { name } = readPerson(author)
  const isFree = session.credentials === undefined && session.location.scheme === 'file'
  return [...described, ...(isFree ? ['--username', name] : ['--with-revprop', `${MARK_PREFIX}author=${name}`])]
}

export function readCommitted(said: Buffer, pattern: RegExp): Revision | undefined {
  const number = pattern.exec(said.toString('utf8'))?.[1]
  return number === undefined ? undefined : { number: Number(number), id: number }
}
