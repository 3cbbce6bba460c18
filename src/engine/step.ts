import type { Db, Line } from '../db/index.ts'
import { stepTasks } from './dispatchers.sql.ts'
import type { ClaimedRow, Place } from './run.ts'

type Request = Parameters<typeof stepTasks>[1]
type Bounds = 'to_priority' | 'slice_lanes' | 'slice_priority' | 'slice_from' | 'slice_to'

/** Without bounds, which are null then, it looks from where it is told to the end. */
export type StepRequest = Omit<Request, Bounds | 'is_fair'> & Partial<Pick<Request, Bounds | 'is_fair'>>

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

/** Of what is missing, all is as it mostly is. */
type Answer = {
  /** Null: all of them. */
  readonly accepted?: readonly string[] | null
  readonly is_alive?: boolean
  readonly has_effects?: boolean
  readonly due_seconds?: number | null
  /** The one task of a hop. */
  readonly task?: TaskFacts | null
  /** Each fact of all tasks: shorter to write and to read than all facts of each. */
  readonly tasks?: TaskColumns | null
}
type TaskFacts = readonly [
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
type TaskColumns = readonly [
  ids: string,
  epochs: readonly number[],
  lanes: readonly number[],
  priorities: readonly number[],
  readyOrders: string,
  failures: readonly number[],
  deaths: readonly number[],
  scopes: readonly string[],
  keys: readonly (string | null)[],
  creators: readonly (string | null)[],
  payloads: readonly unknown[],
]

/** The dispatcher's round trip: records successes, applies what is pending, claims ready tasks. */
export async function step(db: Db, request: StepRequest): Promise<StepAnswer> {
  return toAnswer((await stepTasks(db, toRequest(request))).answer, request)
}

/** The same on a connection that is held for it. */
export function stepOn(line: Line, request: StepRequest): Promise<StepAnswer> {
  return line.ask(stepTasks, toRequest(request), (answer) => toAnswer(answer, request))
}

const toRequest = (request: StepRequest): Request => ({ is_fair: false, ...request }) as Request

function toAnswer(given: unknown, request: StepRequest): StepAnswer {
  const answer = given as Answer
  return {
    tasks: answer.task ? [toTask(answer.task)] : answer.tasks ? toTasks(answer.tasks) : [],
    accepted: answer.accepted ?? request.ids,
    isAlive: answer.is_alive ?? true,
    hasEffects: answer.has_effects ?? false,
    dueSeconds: answer.due_seconds ?? null,
  }
}

function toTask(facts: TaskFacts): ClaimedTask {
  const [id, epoch, lane, priority, readyOrder, failures, deaths, scope, key, creator, payload] = facts
  return { id, epoch, lane, priority, readyOrder, failures, deaths, scope, key, creator, payload }
}

function toTasks(columns: TaskColumns): ClaimedTask[] {
  const [ids, epochs, lanes, priorities, orders, failures, deaths, scopes, keys, creators, payloads] = columns
  const readyOrders = orders.split(',')
  return ids.split(',').map((id, i) => ({
    id,
    epoch: epochs[i] as number,
    lane: lanes[i] as number,
    priority: priorities[i] as number,
    readyOrder: readyOrders[i] as string,
    failures: failures[i] as number,
    deaths: deaths[i] as number,
    scope: scopes[i] as string,
    key: keys[i] as string | null,
    creator: creators[i] as string | null,
    payload: payloads[i],
  }))
}
