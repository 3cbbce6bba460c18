import { HistoryRewritten, type Repository, type Revision } from '../vcs/index.ts'

/** What may be different at a revision. */
export type Touched = {
  /** True: everything may be, and there is no list. */
  readonly isWhole: boolean
  /** Paths where a file may have come, gone or changed. */
  readonly paths: ReadonlySet<string>
  /** Paths where everything below may be different too: folders that came or went. None lies below another. */
  readonly trees: ReadonlySet<string>
  /** The revision that changed a file last, where the repository does not say so itself; null: a commit that is none. */
  lastChanged(path: string): number | null | undefined
}

/** Finds the revisions that commits are; each has its count along the line of first parents. */
export type NumberCommits = (commits: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number | null>>

type Line = { readonly repository: Repository; readonly to: Revision; readonly numberCommits: NumberCommits }

/**
 * Finds out what may be different at `to` from how it was at `base`, from the log: a difference of the trees would not
 * tell what was changed and changed back, although that makes another revision the last one that changed the file.
 */
export async function gather(line: Line, base: Revision | undefined): Promise<Touched> {
  if (base === undefined) return gatherWhole(line)
  const { repository, to } = line
  const paths = new Set<string>()
  const trees = new Set<string>()
  const commits = new Map<string, Commit>()
  try {
    for await (const { number, id, changes } of repository.log({
      after: base,
      to,
      maxChanges: Number.POSITIVE_INFINITY,
    })) {
      for (const { path, action, kind } of changes) {
        if (repository.type === 'git') commits.set(path, { id, number })
        // Git names every file; Subversion names the folder for all that is in it.
        if (repository.type === 'svn' && (action === 'D' || action === 'R' || (action === 'A' && kind === 'folder'))) {
          trees.add(path)
        } else if (kind !== 'folder') paths.add(path)
      }
    }
  } catch (error) {
    // What is indexed belongs to a history that is no more: nothing of it says how the files are now.
    if (error instanceof HistoryRewritten) return gatherWhole(line)
    throw error
  }
  const outer = new Set([...trees].filter((tree) => !isBelowOne(trees, tree)))
  if (outer.has('')) return gatherWhole(line)
  return {
    isWhole: false,
    paths: new Set([...paths].filter((path) => !outer.has(path) && !isBelowOne(outer, path))),
    trees: outer,
    lastChanged: await lastChanges(line, commits),
  }
}

async function gatherWhole(line: Line): Promise<Touched> {
  const { repository, to } = line
  const commits = new Map<string, Commit>()
  // Subversion says of each file which revision changed it last. In git only the whole history does.
  if (repository.type === 'git') {
    for await (const { number, id, changes } of repository.log({ to, maxChanges: Number.POSITIVE_INFINITY })) {
      for (const { path, action } of changes) {
        if (action === 'D') commits.delete(path)
        else commits.set(path, { id, number })
      }
    }
  }
  return { isWhole: true, paths: new Set(), trees: new Set(), lastChanged: await lastChanges(line, commits) }
}

type Commit = { readonly id: string; readonly number: number }

async function lastChanges({ numberCommits }: Line, commits: ReadonlyMap<string, Commit>) {
  const counts = new Map([...commits.values()].map(({ id, number }) => [id, number]))
  const numbers = await numberCommits(counts)
  return (path: string) => {
    const commit = commits.get(path)
    return commit === undefined ? undefined : numbers.get(commit.id)
  }
}

/** Whether one of the folders above the path is in the set. */
function isBelowOne(set: ReadonlySet<string>, path: string): boolean {
  if (path !== '' && set.has('')) return true
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    if (set.has(path.slice(0, at))) return true
  }
  return false
}
