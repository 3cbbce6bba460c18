// How revisions become tasks. Planning some revisions is one transaction: their rows, their tasks with all edges, the
// cursor and the event. It asks for the cursor that it began from; whoever comes second finds another one and writes
// nothing. No revision is ever planned in part, twice, or before the one that precedes it.
import { type Client, type Db, LONG_MS, type Pool, transaction } from '../db/index.ts'
import type { AddItem, Millrace } from '../engine/index.ts'
import { scopeOf } from './archive.ts'
import { type Cause, causesOf } from './cause.ts'
import { namesToLookUp, type Plan, plan } from './definition/plan.ts'
import { ArchiveHistory, chainedNames } from './history.ts'
import type { RevisionRef } from './payload.ts'
import { lockCursor, recordRevisions } from './planning.sql.ts'
import { type Problem, problemOfDepth, toProblems } from './problem.ts'
import { toItems } from './to-items.ts'
import { type Defined, storeFiles } from './workflow-files.ts'

export type PlanContext = {
  readonly pool: Pool
  readonly millrace: Millrace
  /** Commands of one archive and queue that run at once. Default: 4. */
  readonly commandsAtOnce?: number | undefined
}

/** A revision that is to be planned, whatever told of it. */
export type Arrived = RevisionRef & {
  readonly author: string | null
  readonly date: Date | null
  readonly message: string
  /** A folder's path ends with a slash. */
  readonly changes: readonly (readonly [action: string, path: string])[]
  readonly isCut: boolean
  /** The marker of a commit that a task made. */
  readonly marker: string | null
}

/** Revisions that follow each other and have the same workflow files. */
export type Stretch = {
  readonly archive: { readonly id: string; readonly name: string; readonly branch: string }
  /** The cursor that they continue. */
  readonly after: RevisionRef
  readonly revisions: readonly Arrived[]
  readonly defined: Defined
}

/** How many machine commits may follow from one another before no more tasks are planned. */
export const MOST_DEPTH = 5
const MOST_CHANGES_KEPT = 1000

/** Plans the revisions; false when the archive is not where they continue any more, or is not to be planned. */
export function planRevisions(context: PlanContext, stretch: Stretch): Promise<boolean> {
  const { pool, millrace } = context
  const { archive, after, defined, revisions } = stretch
  const work = async (tx: Client) => {
    const cursor = await lockCursor(tx, { archive: archive.id })
    if (cursor?.state !== 'active' || Number(cursor.planned_number) !== after.number) return false
    if (cursor.definition?.equals(defined.hash) !== true) await storeFiles(tx, defined)
    const chained = chainedNames(defined.definition)
    const made = await makePlans(tx, context, stretch)
    const added = await millrace.addMany(
      made.flatMap(({ items }) => items),
      { client: tx },
    )
    let at = 0
    const tasks = made.flatMap(({ plan: planned, items }) => {
      const ids = added.slice(at, at + items.length).map(({ id }) => id)
      at += items.length
      return toRows(planned, ids, chained)
    })
    const last = revisions.at(-1) as Arrived
    await recordRevisions(tx, {
      archive: archive.id,
      revisions: JSON.stringify(made.map(({ row }) => row)),
      tasks: JSON.stringify(tasks),
      definition: defined.hash,
      last_number: String(last.number),
      last_id: last.id,
    })
    await tell(tx, millrace, { archive: archive.name, first: revisions[0]?.number ?? last.number, last: last.number })
    return true
  }
  return transaction(pool, work, { statementMs: LONG_MS })
}

function tell(client: Db, millrace: Millrace, told: { archive: string; first: number; last: number }): Promise<void> {
  const { archive, first, last } = told
  return millrace.publish({ name: 'revision.planned', scope: scopeOf(archive), detail: { first, last } }, { client })
}

type Made = { readonly plan: Plan; readonly items: AddItem[]; readonly row: object }

async function makePlans(tx: Client, { commandsAtOnce }: PlanContext, stretch: Stretch): Promise<Made[]> {
  const { archive, after, revisions, defined } = stretch
  const { definition } = defined
  const history = await ArchiveHistory.readToPlan(tx, {
    id: archive.id,
    archive: archive.name,
    upTo: after.number,
    names: namesToLookUp(definition),
    chained: chainedNames(definition),
  })
  const causes = await causesOf(tx, archive.name, revisions)
  const problems = toProblems(definition.problems)
  let previous: RevisionRef | null = after.number === 0 ? null : { number: after.number, id: after.id }
  let at = 0
  return revisions.map((revision) => {
    const { number, id } = revision
    const cause = causes.get(number)
    const depth = cause?.depth ?? 0
    const isTooDeep = depth > MOST_DEPTH
    const planned = plan(
      isTooDeep ? { workflows: [], problems: [] } : definition,
      toFacts(archive, revision),
      history.before(number),
    )
    history.remember(planned, at)
    const items = toItems(
      planned,
      { rev: { number, id }, previous, depth, trigger: { type: 'commit' }, commandsAtOnce },
      history,
    )
    at += items.length
    previous = { number, id }
    const row = toRow(revision, cause, isTooDeep ? [...problems, problemOfDepth(depth, MOST_DEPTH)] : problems)
    return { plan: planned, items, row }
  })
}

function toFacts(archive: Stretch['archive'], { number, author, message, changes }: Arrived) {
  return {
    archive: archive.name,
    rev: number,
    author: author ?? '',
    message,
    branch: archive.branch,
    changedPaths: changes.map(([, path]) => path),
    trigger: { type: 'commit' } as const,
  }
}

function toRow(revision: Arrived, cause: Cause | undefined, problems: readonly Problem[]): object {
  const { number, id, author, date, message, changes, isCut } = revision
  return {
    number,
    id,
    author: author === null ? null : storable(author),
    date: date === null || Number.isNaN(date.getTime()) ? null : date.toISOString(),
    message: storable(message),
    cause:
      cause === undefined
        ? null
        : { marker: storable(cause.marker), archive: cause.archive, number: cause.number, task: cause.task },
    depth: cause?.depth ?? 0,
    changes: changes.slice(0, MOST_CHANGES_KEPT).map(([action, path]) => [action, storable(path)]),
    changes_cut: isCut || changes.length > MOST_CHANGES_KEPT,
    problems,
  }
}

/** PostgreSQL keeps no U+0000 and no half of a surrogate pair; repositories do. */
export const storable = (text: string) => Buffer.from(text).toString().replaceAll('\u0000', '\uFFFD')

function toRows({ rev, commit, tasks }: Plan, ids: readonly string[], chained: ReadonlySet<string>): object[] {
  const number = Number(rev)
  const milestone =
    commit === undefined ? [] : [{ name: commit.name, workflow: null, is_exclusive: false, is_chained: false }]
  return [
    ...milestone,
    ...tasks.map(({ name, workflow, locks }) => ({
      name,
      workflow,
      is_exclusive: locks.length > 0,
      is_chained: chained.has(name),
    })),
  ].map((row, i) => ({ ...row, number, task: ids[i] }))
}
