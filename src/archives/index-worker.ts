// The task `uses: index`. It reads what its revision changed, stages it where nobody sees it, and has it taken over in the
// transaction of its success. When it dies before that, there is nothing in the index of it.
import { type Db, type Pool, unhurried } from '../db/index.ts'
import { type AnyWorker, defineWorker, PermanentError, type Tx, unchanged, type WorkContext } from '../engine/index.ts'
import { RepositoryError } from '../vcs/index.ts'
import { discardBuilds, findArchive, findBase, isDifferent, openBuild, publishIndex } from './index-build.sql.ts'
import { gather } from './index-gather.ts'
import { stage } from './index-stage.ts'
import { numberCommits } from './number-commits.ts'
import { type ArchiveIndex, archiveIndexKind, archiveIndexSchema } from './payload.ts'
import type { Repositories } from './repositories.ts'

/** What the task leaves as its output. */
export type Indexed = {
  /** The indexed revision that it went on from; null: all files were read. */
  readonly from: number | null
  /** Files that were read. */
  readonly files: number
  /** Files that have no place in an index: see the guide. */
  readonly left_out: number
}

type IndexWorker = { readonly pool: Pool; readonly repositories: Pick<Repositories, 'of'> }

/** The worker that keeps the index of archives. */
export function createArchiveIndexWorker(at: IndexWorker): AnyWorker {
  return defineWorker({
    kind: archiveIndexKind,
    payload: archiveIndexSchema,
    classify: (error) => (error instanceof RepositoryError && error.isRetryable ? 'transient' : undefined),
    work: (context) => index(at, context),
    async onSuccess(tx: Tx, task, { left_out }: Indexed) {
      const db: Db = { query: ({ text, values }) => tx.query(text, values) }
      await publishIndex(db, { task: task.id, left_out: String(left_out) })
    },
  })
}

async function index(at: IndexWorker, { payload, task, signal, log }: WorkContext<ArchiveIndex>) {
  const { pool } = at
  const patient = unhurried(pool)
  const { rev } = payload
  const archive = await findArchive(pool, { name: payload.archive })
  if (!archive) throw new PermanentError(`there is no archive "${payload.archive}"`)
  await discardBuilds(patient, { archive: archive.id })
  const of = { archive: archive.id, number: String(rev.number) }
  const base = await findBase(pool, of)
  const { id: build } = await openBuild(pool, { ...of, task: task.id, revision: rev.id })
  const repository = (await at.repositories.of(payload.archive)).withSignal(signal)
  // One that is indexed already was asked for again: then everything is compared.
  const isAgain = base !== undefined && Number(base.number) === rev.number
  const from = base === undefined || isAgain ? undefined : { number: Number(base.number), id: base.id }
  const touched = await gather(
    {
      repository,
      to: rev,
      numberCommits: (commits) => numberCommits(pool, { archive: archive.id, upTo: rev.number, commits }),
    },
    from,
  )
  const { files, leftOut } = await stage({ pool, repository, build, revision: rev, touched, signal })
  const result: Indexed = { from: touched.isWhole ? null : (from?.number ?? null), files, left_out: leftOut }
  log('indexed', { rev: rev.number, from: result.from, files, left_out: leftOut })
  if (!isAgain) return result
  const { is_different } = await isDifferent(patient, { ...of, build })
  return is_different ? result : unchanged(result)
}
