import type { Client } from '../db/index.ts'
import { CountDiffers } from '../engine/index.ts'
import { findPlanned } from './find-revision.ts'
import type { PlanContext } from './plan-revision.ts'
import { tasksOfRun } from './runs.sql.ts'

export type AskedRerun = {
  readonly archive: string
  readonly rev: number | string
  /** `failed`: what failed, and with it what was skipped because of that. `all`: everything that is over. */
  readonly only: 'failed' | 'all'
  /** Which run; without it, that of the commit. */
  readonly run?: string | undefined
  readonly actor: string
  readonly cause?: string | undefined
  /** How many the caller believes there are; with another number nothing is done. */
  readonly expectedCount?: number | undefined
  /** Nothing is done in any case. */
  readonly isDryRun?: boolean
}

export type Again = { readonly id: string; readonly name: string }

/**
 * Asks again for tasks of a revision, in the transaction of the caller; answers those that were asked for. What has not
 * ended goes on as it is. Later revisions are not run again: they waited for an end, and that was kept. Throws
 * `CountDiffers`.
 */
export async function rerunRevision(tx: Client, { millrace }: PlanContext, asked: AskedRerun): Promise<Again[]> {
  const { archive, number } = await findPlanned(tx, asked.archive, asked.rev)
  const tasks = await tasksOfRun(tx, { archive, number: String(number), run: asked.run ?? '' })
  const over = tasks.filter(({ state }) => (asked.only === 'all' ? state !== null : state === 'failed'))
  const again = over.map(({ task, name }) => ({ id: task, name }))
  if (asked.isDryRun) return again
  if (asked.expectedCount !== undefined && asked.expectedCount !== over.length) {
    throw new CountDiffers(asked.expectedCount, over.length)
  }
  const record = { client: tx, actor: asked.actor, ...(asked.cause === undefined ? {} : { cause: asked.cause }) }
  const ids = (isSucceeded: boolean) =>
    over.filter(({ state }) => (state === 'succeeded') === isSucceeded).map(({ task }) => task)
  if (ids(true).length > 0) await millrace.rerun(ids(true), record)
  if (ids(false).length > 0) await millrace.retry(ids(false), record)
  return again
}
