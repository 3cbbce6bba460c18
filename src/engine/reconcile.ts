// After a lost answer the dispatcher and the database may disagree on what it holds; the database is right.
import { isPassing, type Pool } from '../db/index.ts'
import { heldBy, leaseFacts } from './reads.sql.ts'
import { type Recorder, recordCanceled } from './record.ts'
import type { Run } from './run.ts'
import { requeueTasks, tellEvent } from './tasks.sql.ts'

/** Hands back what the database says is held here and nobody here knows of: claimed by a step whose answer was lost. */
export async function reconcile(
  pool: Pool,
  holder: number,
  knows: (id: string, epoch: number) => boolean,
): Promise<void> {
  const unknown = (await heldBy(pool, { holder })).filter((row) => !knows(row.id, row.epoch))
  if (unknown.length === 0) return
  await requeueTasks(pool, {
    holder,
    ids: unknown.map((row) => row.id),
    epochs: unknown.map((row) => row.epoch),
    outcome: 'handed_back',
    delays: null,
    errors: null,
  })
}

/**
 * Finds out why the outcomes of these runs were refused. Already recorded: good. Asked to stop: ends them as canceled.
 * Locked by someone for a moment, or lost and to be resumed: returns them, to be offered again. Otherwise the lease was
 * lost, and the history is told that a result was dropped.
 */
export async function resolveRefused(
  at: Recorder,
  runs: readonly Run[],
  onError: (error: Error) => void,
): Promise<Run[]> {
  if (runs.length === 0) return []
  const facts = await leaseFacts(at.pool, {
    holders: runs.map((run) => run.holder),
    ids: runs.map((run) => run.id),
    epochs: runs.map((run) => run.epoch),
  })
  const byId = new Map(facts.map((fact) => [fact.id, fact]))
  const again: Run[] = []
  for (const run of runs) {
    const fact = byId.get(run.id)
    if (fact?.is_canceling) await recordCanceled(at, run)
    else if (fact?.is_held || (at.mayResume?.() && fact?.is_open)) again.push(run)
    else if (!fact?.is_recorded) await tellLost(at, run, onError)
  }
  return again
}

async function tellLost(at: Recorder, run: Run, onError: (error: Error) => void): Promise<void> {
  await tellEvent(at.pool, {
    task: run.id,
    name: 'result_dropped',
    cause: `dispatcher ${run.holder} had lost the lease of epoch ${run.epoch}: what it did was not recorded`,
    actor: null,
    detail: JSON.stringify({ holder: run.holder, epoch: run.epoch }),
  }).catch((error: Error) => {
    // The caller tries again while the database is away.
    if (isPassing(error)) throw error
    onError(error)
  })
}
