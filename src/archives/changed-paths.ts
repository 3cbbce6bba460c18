import type { Pool } from '../db/index.ts'
import { collect, type Repository } from '../vcs/index.ts'
import type { ArchiveTask } from './payload.ts'
import { listUncovered, readRevisionId } from './perform.sql.ts'

type Asked = Pick<ArchiveTask, 'archive' | 'name' | 'rev'>

/**
 * The paths that have changed since a task of this name last succeeded, up to its revision: what an earlier one would have
 * looked after and did not, because it failed or was superseded, is left to this one. A folder, which ends with a slash,
 * stands for all below it.
 */
export async function changedPaths(pool: Pool, repository: Repository | undefined, asked: Asked): Promise<string[]> {
  const { archive, name, rev } = asked
  const rows = await listUncovered(pool, { archive, name, number: String(rev.number) })
  const paths = new Set<string>()
  for (const row of rows) {
    // Of a revision with very many changes only the first are in the database.
    const whole = row.changes_cut && repository !== undefined
    const changes = whole
      ? await readChanges(pool, repository, { archive, number: Number(row.number), id: row.id })
      : row.changes
    for (const [, path] of changes as [action: string, path: string][]) paths.add(path)
  }
  return [...paths].sort()
}

type Place = { readonly archive: string; readonly number: number; readonly id: string }

async function readChanges(
  pool: Pool,
  repository: Repository,
  { archive, number, id }: Place,
): Promise<[string, string][]> {
  const before = await readRevisionId(pool, { archive, number: String(number - 1) })
  const after = before === undefined ? await revisionBefore(repository, number) : { number: number - 1, id: before.id }
  const log = await collect(repository.log({ ...(after && { after }), to: { number, id } }))
  const changes = log.find((entry) => entry.id === id)?.changes ?? []
  return changes.map(({ action, path, kind }) => [action, kind === 'folder' ? `${path}/` : path])
}

const revisionBefore = async (repository: Repository, number: number) =>
  number > 1 ? repository.revision(number - 1) : undefined
