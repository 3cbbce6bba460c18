import type { FastifyInstance } from 'fastify'
import { type BodyAnswered, routes } from '../api/index.ts'
import type { ActOptions, BulkVerb, Millrace, Task, TaskFilter, TaskState } from '../engine/index.ts'
import { addRoute } from './add-route.ts'
import { findTask } from './find-task.ts'

const NEIGHBOURS = 100

/** `/v1/tasks`: tasks of every part, and what a person may do to them. */
export function addTasks(app: FastifyInstance, millrace: Millrace): void {
  const { tasks } = routes
  addRoute(app, tasks.list, async ({ query }) => {
    const { state, scope, kind, queue, q, limit, cursor } = query
    const { items, next } = await millrace.list({
      limit,
      ...toFilter({ state, scope, kind, queue, q }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    return { items: items.map(toSummary), next_cursor: next }
  })
  addRoute(app, tasks.counts, async () => {
    const counts = Object.entries(await millrace.count())
    const states = counts.map(([state, { count, isExact }]) => [state, { count, is_exact: isExact }])
    return { states: Object.fromEntries(states) as BodyAnswered<typeof tasks.counts>['states'] }
  })
  addTask(app, millrace)
  addBulk(app, millrace)
  addAction(app, millrace, tasks.cancel, (id, by) => millrace.cancel(id, by))
  addAction(app, millrace, tasks.retry, (id, by) => millrace.retry(id, by))
  addAction(app, millrace, tasks.rerun, (id, by) => millrace.rerun(id, by))
  addAction(app, millrace, tasks.hold, (id, by) => millrace.hold(id, by))
  addAction(app, millrace, tasks.release, (id, by) => millrace.release(id, by))
  addRoute(app, tasks.prioritize, async (asked) => {
    const id = await findTask(millrace, asked)
    const { priority, cause } = asked.body
    await millrace.prioritize(id, priority, { actor: asked.identity.name, ...(cause === undefined ? {} : { cause }) })
    return { id, state: (await millrace.task(id)).state, priority }
  })
  addAction(app, millrace, tasks.skip, (id, by) => millrace.skip(id, by))
}

/** One task: what it is, why, and its story. */
function addTask(app: FastifyInstance, millrace: Millrace): void {
  const { tasks } = routes
  addRoute(app, tasks.get, async (asked) => {
    const id = await findTask(millrace, asked)
    const { task, why, requirements, dependents, attempts } = await millrace.look(id)
    return {
      ...toTask(task),
      why: why.sentence,
      culprits: [...why.culprits],
      requirements: requirements
        .slice(0, NEIGHBOURS)
        .map(({ isMet, ...neighbour }) => ({ ...neighbour, is_met: isMet })),
      dependents: dependents.slice(0, NEIGHBOURS),
      attempts: attempts.map((attempt) => ({
        number: attempt.number,
        started_at: attempt.startedAt.toISOString(),
        ended_at: attempt.endedAt?.toISOString() ?? null,
        outcome: attempt.outcome,
        worker: attempt.dispatcher?.name ?? null,
        error: attempt.error ?? null,
      })),
    }
  })
  addRoute(app, tasks.typical, async (asked) => {
    const id = await findTask(millrace, asked)
    const found = await millrace.typical(id)
    return {
      id,
      count: found?.count ?? 0,
      p10_ms: found?.p10Ms ?? null,
      median_ms: found?.medianMs ?? null,
      p90_ms: found?.p90Ms ?? null,
    }
  })
  addRoute(app, tasks.why, async (asked) => {
    const id = await findTask(millrace, asked)
    const { task, why } = await millrace.look(id)
    return { id, state: task.state, why: why.sentence, culprits: [...why.culprits] }
  })
  addRoute(app, tasks.events, async (asked) => {
    const history = await millrace.history(await findTask(millrace, asked))
    const items = history.map(({ at, name, from, to, cause, culprit, actor, dispatcher, error }) => ({
      at: at.toISOString(),
      name,
      from,
      to,
      cause,
      culprit,
      actor,
      worker: dispatcher?.name ?? null,
      error: error ?? null,
    }))
    return { items, next_cursor: null }
  })
}

type Filter = {
  readonly state?: readonly TaskState[] | undefined
  readonly scope?: string | undefined
  readonly kind?: string | undefined
  readonly queue?: string | undefined
  readonly q?: string | undefined
}

function toFilter({ state, scope, kind, queue, q }: Filter): TaskFilter {
  const isPrefix = scope?.endsWith('*')
  return {
    ...(state === undefined ? {} : { state }),
    ...(scope === undefined ? {} : isPrefix ? { scopePrefix: scope.slice(0, -1) } : { scope }),
    ...(kind === undefined ? {} : { kind }),
    ...(queue === undefined ? {} : { queue }),
    ...(q === undefined ? {} : { text: q }),
  }
}

/** The same done to all tasks that a search finds. */
function addBulk(app: FastifyInstance, millrace: Millrace): void {
  const { tasks } = routes
  const add = (route: (typeof tasks)[`${BulkVerb}Many`], verb: BulkVerb) =>
    addRoute(app, route, async ({ query, body, identity }) => {
      const { expected_count: expectedCount, cause, ...filter } = body
      const result = await millrace.actOnMany(verb, {
        filter: toFilter(filter),
        expectedCount,
        isDryRun: query.dry_run === '1',
        actor: identity.name,
        cause,
      })
      return {
        count: result.count,
        items: result.tasks.map(toSummary),
        acted: result.acted,
        refused_count: result.refusedCount,
        refused: result.refused.map((one) => ({ ...one })),
      }
    })
  add(tasks.retryMany, 'retry')
  add(tasks.rerunMany, 'rerun')
  add(tasks.cancelMany, 'cancel')
  add(tasks.holdMany, 'hold')
  add(tasks.releaseMany, 'release')
  add(tasks.skipMany, 'skip')
}

type Action = (typeof routes.tasks)['cancel' | 'retry' | 'rerun' | 'hold' | 'release' | 'skip']

function addAction(
  app: FastifyInstance,
  millrace: Millrace,
  route: Action,
  act: (id: string, by: ActOptions) => Promise<void>,
): void {
  addRoute(app, route, async (asked) => {
    const id = await findTask(millrace, asked)
    const { cause } = asked.body ?? {}
    await act(id, { actor: asked.identity.name, ...(cause === undefined ? {} : { cause }) })
    return { id, state: (await millrace.task(id)).state }
  })
}

const iso = (at: Date | null) => at?.toISOString() ?? null

type Shown = Pick<
  Task,
  'id' | 'kind' | 'queue' | 'scope' | 'key' | 'state' | 'priority' | 'createdAt' | 'startedAt' | 'finishedAt'
>

function toSummary(task: Shown): BodyAnswered<typeof routes.tasks.list>['items'][number] {
  return {
    id: task.id,
    kind: task.kind,
    queue: task.queue,
    scope: task.scope,
    key: task.key,
    state: task.state,
    priority: task.priority,
    created_at: task.createdAt.toISOString(),
    started_at: iso(task.startedAt),
    finished_at: iso(task.finishedAt),
  }
}

function toTask(
  task: Task,
): Omit<BodyAnswered<typeof routes.tasks.get>, 'why' | 'culprits' | 'requirements' | 'dependents' | 'attempts'> {
  return {
    ...toSummary(task),
    ready_at: iso(task.readyAt),
    not_before: iso(task.notBefore),
    payload: task.payload ?? null,
    output: task.output ?? null,
    error: task.error ?? null,
    creator: task.creator,
    created_by: task.actor,
    is_canceling: task.isCanceling,
    cause: task.cause,
    superseded_by: task.supersededBy,
    held_by: task.heldBy,
    failures: task.failures,
    deaths: task.deaths,
    max_attempts: task.maxAttempts,
    worker: task.dispatcher?.name ?? null,
    unmet: task.unmet,
  }
}
