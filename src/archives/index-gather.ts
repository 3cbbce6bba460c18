import { HistoryRewritten, type Repository, type Revision } from '../vcs/index.ts'

/** What may be different at a revision. */
export type Touched = {
  /** True: everything may be, and there is no list. */
  readonly isWhole: boolean
  /** Paths where a file may have come, gone or changed. */
  readonly paths: ReadonlySet<string>
  /** Paths where everything below may be different too: folders that came or went. None lies below another. */
  readonly trees: ReadonlySet<string>
  /** The revision that changed a file last, where the repository does not say so itself. */
  lastChanged(path: string): number | undefined
}

/**
 * Finds out what may be different at `to` from how it was at `base`, from the log: a difference of the trees would not
 * tell what was changed and changed back, although that makes another revision the last one that changed the file.
 */
export async function gather(repository: Repository, base: Revision | undefined, to: Revision): Promise<Touched> {
  if (base === undefined) return gatherWhole(repository, to)
  const paths = new Set<string>()
  const trees = new Set<string>()
  const numbers = new Map<string, number>()
  try {
    for await (const { number, changes } of repository.log({ after: base, to, maxChanges: Number.POSITIVE_INFINITY })) {
      for (const { path, action, kind } of changes) {
        if (repository.type === 'git') numbers.set(path, number)
        // Git names every file; Subversion names the folder for all that is in it.
        if (repository.type === 'svn' && (action === 'D' || action === 'R' || (action === 'A' && kind === 'folder'))) {
          trees.add(path)
        } else if (kind !== 'folder') paths.add(path)
      }
    }
  } catch (error) {
    // What is indexed belongs to a history that is no more: nothing of it says how the files are now.
    if (error instanceof HistoryRewritten) return gatherWhole(repository, to)
    throw error
  }
  const outer = new Set([...trees].filter((tree) => !isBelowOne(trees, tree)))
  if (outer.has('')) return gatherWhole(repository, to)
  return {
    isWhole: false,
    paths: new Set([...paths].filter((path) => !outer.has(path) && !isBelowOne(outer, path))),
    trees: outer,
    lastChanged: (path) => numbers.get(path),
  }
}

async function gatherWhole(repository: Repository, to: Revision): Promise<Touched> {
  const numbers = new Map<string, number>()
  let shift = 0
  // Subversion says of each file which revision changed it last. In git only the whole history does.
  if (repository.type === 'git') {
    for await (const { number, changes } of repository.log({ to, maxChanges: Number.POSITIVE_INFINITY })) {
      for (const { path, action } of changes) {
        if (action === 'D') numbers.delete(path)
        else numbers.set(path, number)
      }
      // The archive counts on where a history was replaced by a shorter one.
      shift = to.number - number
    }
  }
  const lastChanged = (path: string) => {
    const number = numbers.get(path)
    return number === undefined ? undefined : number + shift
  }
  return { isWhole: true, paths: new Set(), trees: new Set(), lastChanged }
}

/** Whether one of the folders above the path is in the set. */
function isBelowOne(set: ReadonlySet<string>, path: string): boolean {
  if (path !== '' && set.has('')) return true
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    if (set.has(path.slice(0, at))) return true
  }
  return false
}
