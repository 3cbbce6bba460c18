import type { Db } from '../db/index.ts'
import * as reading from './read.ts'
import { type Why, whyOf } from './why.ts'

const MOST_ATTEMPTS = 100

/** A task with why it is as it is, its neighbours and its attempts, all of one moment. */
export type Look = {
  readonly task: reading.Task
  readonly why: Why
  readonly requirements: readonly (reading.Neighbour & { isMet: boolean })[]
  readonly dependents: readonly reading.Neighbour[]
  /** The last hundred: a task that looks again and again has any number. */
  readonly attempts: readonly reading.Attempt[]
}

/** Reads it; `db` is a snapshot, so that what one read says the next does not deny. */
export async function look(db: Db, ref: reading.TaskRef): Promise<Look> {
  const task = await reading.read(db, ref)
  return {
    task,
    why: await whyOf(db, task),
    requirements: await reading.requirements(db, task.id),
    dependents: await reading.dependents(db, task.id),
    attempts: await reading.attempts(db, task.id, { last: MOST_ATTEMPTS }),
  }
}
