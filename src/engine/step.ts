import type { Db } from '../db/index.ts'
import { stepTasks } from './dispatchers.sql.ts'
import type { ClaimedRow, Place } from './run.ts'

type Request = Parameters<typeof stepTasks>[1]
type Bounds = 'to_priority' | 'slice_lanes' | 'slice_priority' | 'slice_from' | 'slice_to'

/** Without bounds it looks from where it is told to the end. */
export type StepRequest = Omit<Request, Bounds> & Partial<Pick<Request, Bounds>>

export type ClaimedTask = ClaimedRow & Place

export type StepAnswer = {
  /** Most urgent first. */
  readonly tasks: ClaimedTask[]
  /** The successes that were recorded. */
  readonly accepted: readonly string[]
  /** False: the lease of this dispatcher was taken away. */
  readonly isAlive: boolean
  /** Consequences are waiting that could not be applied just now. */
  readonly hasEffects: boolean
  /** When the next delayed task is due; null when there is none. */
  readonly dueSeconds: number | null
}

type Answer = {
  /** Null: all of them. */
  readonly accepted: readonly string[] | null
  readonly is_alive: boolean
  readonly has_effects: boolean
  readonly due_seconds: number | null
  readonly tasks: readonly TaskColumns[] | null
}
type TaskColumns = readonly [
  id: string,
  epoch: number,
  lane: number,
  priority: number,
  readyOrder: string,
  failures: number,
  deaths: number,
  scope: string,
  key: string | null,
  creator: string | null,
  payload: unknown,
]

/** The dispatcher's round trip: records successes, applies what is pending, claims ready tasks. */
export async function step(db: Db, request: StepRequest): Promise<StepAnswer> {
  // A parameter that is left out is null.
  const answer = (await stepTasks(db, request as Request)).answer as Answer
  return {
    tasks: (answer.tasks ?? []).map(toTask),
    accepted: answer.accepted ?? request.ids,
    isAlive: answer.is_alive,
    hasEffects: answer.has_effects,
    dueSeconds: answer.due_seconds,
  }
}

function toTask(columns: TaskColumns): ClaimedTask {
  const [id, epoch, lane, priority, readyOrder, failures, deaths, scope, key, creator, payload] = columns
  return { id, epoch, lane, priority, readyOrder, failures, deaths, scope, key, creator, payload }
}
