import type { Client } from '../db/index.ts'
import { NothingToRun } from './errors.ts'
import { findPlanned } from './find-revision.ts'
import type { PlanContext } from './plan-revision.ts'
import { type PlannedRun, planRunWithin } from './plan-run.ts'

export type AskedRun = {
  readonly archive: string
  /** The workflow, or the one task of any workflow, that is to run. */
  readonly chosen: { readonly workflow: string } | { readonly task: string }
  /** By number or id; without it, the newest that was planned. */
  readonly rev?: number | string | undefined
  readonly inputs: Readonly<Record<string, string>>
  /** Who asks. */
  readonly actor: string
}

/**
 * Runs a workflow or a task by hand, in the transaction of the caller. Throws when it does not exist at that revision,
 * when the inputs are not what it takes, and when nothing of it would run.
 */
export async function run(
  tx: Client,
  context: PlanContext,
  { archive, chosen, rev, inputs, actor }: AskedRun,
): Promise<PlannedRun & { readonly rev: number }> {
  const { number } = await findPlanned(tx, archive, rev)
  const planned = await planRunWithin(tx, context, {
    archive,
    rev: number,
    trigger: { type: 'manual', run: '', by: actor, inputs },
    chosen: 'task' in chosen ? { tasks: [chosen.task] } : chosen,
  })
  const name = 'task' in chosen ? `task "${chosen.task}"` : `workflow "${chosen.workflow}"`
  if (planned.tasks.length === 0) throw new NothingToRun(archive, number, name)
  return { ...planned, rev: number }
}
