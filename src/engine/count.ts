import type { Db } from '../db/index.ts'
import { countStates } from './lists.sql.ts'
import type { TaskState } from './task.ts'

export type TaskCount = {
  readonly count: number
  /** False: estimated from a sample. */
  readonly isExact: boolean
}

/** How many tasks are in each state: counted where that is cheap, else estimated. */
export async function countTasks(db: Db): Promise<Record<TaskState, TaskCount>> {
  const rows = await countStates(db, {})
  return Object.fromEntries(
    rows.map((row) => [row.state, { count: Number(row.count), isExact: row.is_exact }]),
  ) as Record<TaskState, TaskCount>
}
