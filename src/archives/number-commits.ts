import type { Db } from '../db/index.ts'
import { knownCommits, takenNumbers } from './archives.sql.ts'

const AT_ONCE = 1000

type Line = {
  readonly archive: string
  /** The revision at the end of the line of first parents. */
  readonly upTo: number
  /** Commits of the line by id, each with its count along the line. */
  readonly commits: ReadonlyMap<string, number>
}

/**
 * The revisions that commits of a line are. A commit that was planned has the number that it was planned under: after a
 * rewritten history that is not its count. A commit from before the first planned revision has its count, unless another
 * revision has that number: then it is no revision of the archive, and is null here.
 */
export async function numberCommits(db: Db, line: Line): Promise<ReadonlyMap<string, number | null>> {
  const { archive, upTo } = line
  const found = new Map<string, number | null>()
  const all = [...line.commits]
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE)
    for (const { id, number } of await knownCommits(db, { archive, ids: some.map(([id]) => id) }))
      if (Number(number) <= upTo) found.set(id, Number(number))
    const others = some.filter(([id]) => !found.has(id))
    const numbers = others.map(([, count]) => String(count))
    const taken = new Set((await takenNumbers(db, { archive, numbers })).map(({ number }) => Number(number)))
    for (const [id, count] of others) found.set(id, count > upTo || taken.has(count) ? null : count)
  }
  return found
}
