// How a run by hand or by schedule becomes tasks of a revision that was planned before.
import { type Client, MANY_MS, transaction } from '../db/index.ts'
import type { AddItem } from '../engine/index.ts'
import { findArchive } from './archives.sql.ts'
import type { RunTrigger } from './definition/choose-tasks.ts'
import { namesToLookUp, plan } from './definition/plan.ts'
import { ArchiveNotFound, RevisionNotPlanned } from './errors.ts'
import { ArchiveHistory, chainedNames } from './history.ts'
import type { Trigger } from './payload.ts'
import type { PlanContext } from './plan-revision.ts'
import { drawRun, lockCursor, orderRun, plannedRevision, recordRun } from './planning.sql.ts'
import { type At, toItems } from './to-items.ts'
import { loadFiles } from './workflow-files.ts'

export type PlannedRun = {
  readonly run: string
  readonly tasks: readonly { readonly key: string; readonly id: string }[]
}
export type ChosenTasks = { readonly workflow?: string; readonly tasks?: readonly string[] }
export type AskedTrigger = Exclude<Trigger, { type: 'commit' }>

export type WantedRun = {
  readonly archive: string
  readonly rev: number
  /** An empty `run` draws the next number. */
  readonly trigger: AskedTrigger
  readonly chosen: ChosenTasks
}

/**
 * Adds a run by hand or by schedule to a revision that was planned: a workflow's tasks, or those that are named. Runs of
 * held archives are planned, too: only revisions wait.
 */
export function planRun(context: PlanContext, wanted: WantedRun): Promise<PlannedRun> {
  return transaction(context.pool, (tx) => planRunWithin(tx, context, wanted), { statementMs: MANY_MS })
}

/** The same, in the transaction of the caller. */
export async function planRunWithin(
  tx: Client,
  { millrace, commandsAtOnce }: Omit<PlanContext, 'pool'>,
  { archive, rev, trigger: asked, chosen }: WantedRun,
): Promise<PlannedRun> {
  const found = await findArchive(tx, { name: archive })
  if (found === undefined || found.state === 'removed') throw new ArchiveNotFound(archive)
  await lockCursor(tx, { archive: found.id })
  const revision = await plannedRevision(tx, { archive: found.id, number: String(rev) })
  if (revision === undefined) {
    const planned = { first: Number(found.first_number), last: Number(found.planned_number) }
    throw new RevisionNotPlanned(archive, rev, planned)
  }
  const run = asked.run === '' ? (await drawRun(tx, { archive: found.id })).run : asked.run
  const trigger = { ...asked, run }
  const { definition } = await loadFiles(tx, revision.definition)
  const asking = { id: found.id, archive, upTo: rev, names: namesToLookUp(definition) }
  const history = await ArchiveHistory.readToPlan(tx, { ...asking, chained: chainedNames(definition) })
  const facts = {
    archive,
    rev,
    author: revision.author ?? '',
    message: revision.message,
    branch: (found.source as { branch?: string }).branch ?? '',
    changedPaths: (revision.changes as [string, string][]).map(([, path]) => path),
  }
  const at: At = {
    rev: { number: rev, id: revision.id },
    previous: revision.previous_id === null ? null : { number: rev - 1, id: revision.previous_id },
    depth: revision.depth,
    trigger,
    commandsAtOnce,
  }
  const items: AddItem[] = []
  const plans = toRunTriggers(trigger, chosen).map((one) => {
    const planned = plan(definition, { ...facts, trigger: one }, history.before(rev))
    history.remember(planned, items.length)
    items.push(...toItems(planned, at, history))
    return planned
  })
  const added = await millrace.addMany(items, { client: tx })
  const tasks = plans.flatMap((planned) => planned.tasks).map((task, i) => ({ ...task, id: added[i]?.id ?? '' }))
  const rows = tasks.map(({ name, workflow, locks, id }) => ({
    name,
    workflow,
    is_exclusive: locks.length > 0,
    task: id,
  }))
  await recordRun(tx, { archive: found.id, number: String(rev), run, tasks: JSON.stringify(rows) })
  const exclusive = rows.filter((row) => row.is_exclusive).map(({ task }) => task)
  if (exclusive.length > 0) await orderRun(tx, { tasks: exclusive })
  return { run, tasks: tasks.map(({ key, id }) => ({ key, id })) }
}

/** One plan for a workflow; one for each task that is named, so that later ones find the earlier ones there. */
function toRunTriggers(trigger: AskedTrigger, { workflow, tasks }: ChosenTasks): RunTrigger[] {
  if (trigger.type === 'schedule') return [{ type: 'schedule', run: trigger.run, workflow: workflow ?? '' }]
  const { run, inputs } = trigger
  if (workflow !== undefined) return [{ type: 'manual', run, inputs, workflow }]
  return [...new Set(tasks)].map((task) => ({ type: 'manual', run, inputs, task }))
}
