import { expect, test } from 'vitest'
import { StateRefused, type TaskState, taskStates } from '../src/engine/index.ts'
import type { ManualDispatcher } from '../src/engine/manual-dispatcher.ts'
import type { Run } from '../src/engine/run.ts'
import { aWorker, useEngine } from './engine.ts'

const engine = useEngine()

test('the states in the code are the states in the catalog', async () => {
  const { rows } = await engine.pool.query('select unnest(enum_range(null::millrace.state))::text as state')
  expect(rows.map((row) => row.state)).toEqual([...taskStates.states])
})

/** A task in the given state, with what it takes to move it. */
async function aTask(state: TaskState) {
  let work: () => unknown = () => undefined
  const worker = aWorker({ work: () => work() })
  const upstream = aWorker()
  const add = (options = {}) => engine.add(worker, options)
  const held: { dispatcher?: ManualDispatcher; run?: Run } = {}
  const claim = async () => {
    held.dispatcher = await engine.byHand([worker])
    held.run = (await held.dispatcher.claim())[0] as Run
  }
  const culprit = async () => {
    const id = await engine.add(upstream)
    await engine.millrace.cancel(id)
    return id
  }
  const perform = async (how: () => unknown) => {
    work = how
    if (held.run) await held.dispatcher?.perform(held.run)
  }
  const fail = () => {
    throw new Error('no')
  }
  const required = await engine.add(upstream)
  const make: Record<TaskState, () => Promise<string>> = {
    waiting: () => add({ requires: [required] }),
    delayed: () => add({ delaySeconds: 3600 }),
    ready: () => add(),
    held: () => add({ heldBy: 'ada', requires: [required] }),
    running: async () => {
      const id = await add()
      await claim()
      return id
    },
    succeeded: async () => {
      const id = await add()
      await engine.drain(worker)
      return id
    },
    failed: async () => {
      work = fail
      const id = await add()
      await engine.drain(worker)
      return id
    },
    canceled: async () => {
      const id = await add()
      await engine.millrace.cancel(id)
      return id
    },
    skipped: async () => add({ requires: [await culprit()] }),
  }
  const id = await make[state]()
  expect(await engine.states(id)).toEqual([state])
  return { id, worker, upstream, required, perform, claim, held, fail }
}

type Made = Awaited<ReturnType<typeof aTask>>

// What makes each event happen. A verb refuses by throwing; what happens by itself simply does not.
const events: Record<string, (of: Made) => Promise<unknown>> = {
  hold: ({ id }) => engine.millrace.hold(id),
  release: ({ id }) => engine.millrace.release(id),
  skip: ({ id }) => engine.millrace.skip(id),
  cancel: ({ id }) => engine.millrace.cancel(id),
  retry: ({ id }) => engine.millrace.retry(id),
  rerun: ({ id }) => engine.millrace.rerun(id),
  block: async ({ id }) => engine.millrace.require(id, [await engine.add(aWorker())]),
  claim: async ({ claim }) => claim(),
  unblock: ({ upstream }) => engine.drain(upstream),
  become_due: async ({ id }) => {
    await engine.pool.query(
      `update millrace.live set not_before = clock_timestamp() where id = $1 and state = 'delayed'`,
      [id],
    )
    const other = await engine.byHand([aWorker()])
    await other.claim()
  },
  expire: async ({ held }) => (held.dispatcher ? engine.expire(held.dispatcher.id) : undefined),
  hand_back: async ({ held, id }) =>
    engine.pool.query(`select millrace.requeue($1, array[$2::bigint], array[$3::int], 'handed_back', null, null)`, [
      held.dispatcher?.id ?? 0,
      id,
      held.run?.epoch ?? 0,
    ]),
  fail: ({ perform, fail }) => perform(fail),
}

/** Verbs that a person may use: where the table has no entry, they must refuse. */
const verbs = ['hold', 'release', 'skip', 'retry', 'rerun', 'block']

for (const state of taskStates.states) {
  for (const event of verbs) {
    const target = taskStates.next(state, event as never) as TaskState | undefined
    // A task that is retried, rerun or released waits for no longer than its requirements say.
    const reached = target === 'waiting' ? ['waiting', 'ready', 'skipped'] : [target]
    const isNoRefusal = event === 'block' && ['waiting', 'held'].includes(state)
    if (isNoRefusal) continue
    test(`${event} of a ${state} task ${target === undefined ? 'is refused' : `leads to ${target}`}`, async () => {
      const made = await aTask(state)
      const attempt = events[event]?.(made)
      if (target === undefined) {
        await expect(attempt).rejects.toThrow(StateRefused)
        expect(await engine.states(made.id)).toEqual([state])
      } else {
        await attempt
        expect(reached).toContain((await engine.states(made.id))[0])
      }
      if (state === 'running') await made.perform(() => undefined)
    })
  }
}

for (const event of ['claim', 'become_due', 'expire', 'hand_back', 'fail', 'unblock'] as const) {
  for (const state of taskStates.states) {
    const target = taskStates.next(state, event) as TaskState | undefined
    test(`${event} ${target === undefined ? `leaves a ${state} task alone` : `moves a ${state} task to ${target}`}`, async () => {
      const made = await aTask(state)
      await events[event]?.(made)
      expect(await engine.states(made.id)).toEqual([target ?? state])
      if (made.held.run) await made.perform(() => undefined)
    })
  }
}

for (const state of taskStates.states) {
  test(`marking a ${state} task as succeeded ${state === 'running' || state === 'succeeded' ? 'is refused' : 'succeeds'}`, async () => {
    const made = await aTask(state)
    if (state === 'running' || state === 'succeeded') {
      await expect(engine.millrace.succeed(made.id)).rejects.toThrow(StateRefused)
      expect(await engine.states(made.id)).toEqual([state])
    } else {
      await engine.millrace.succeed(made.id)
      expect(await engine.states(made.id)).toEqual(['succeeded'])
    }
    if (state === 'running') await made.perform(() => undefined)
  })

  test(`cancelling a ${state} task ${taskStates.next(state, 'cancel') || state === 'running' ? 'ends it' : 'is refused'}`, async () => {
    const made = await aTask(state)
    if (taskStates.next(state, 'cancel') === undefined && state !== 'running') {
      await expect(engine.millrace.cancel(made.id)).rejects.toThrow(StateRefused)
      expect(await engine.states(made.id)).toEqual([state])
      return
    }
    await engine.millrace.cancel(made.id)
    // A running one is canceled once its work has returned: the event of the table is `stop`.
    if (state === 'running') {
      expect(await engine.states(made.id)).toEqual(['running'])
      await made.perform(() => undefined)
      expect(taskStates.next(state, 'stop')).toBe('canceled')
    }
    expect(await engine.states(made.id)).toEqual(['canceled'])
  })
}

test('every event of the table is tried here or in the tests of what a worker returns and of lost leases', () => {
  const all = new Set(taskStates.states.flatMap((state) => eventsOf(state)))
  const tried = new Set([...Object.keys(events), 'succeed', 'stop', 'revive', 'delay', 'require', 'resume'])
  expect([...all].filter((event) => !tried.has(event))).toEqual([])
})

function eventsOf(state: TaskState): string[] {
  const drawn = taskStates.mermaid().split('\n')
  return drawn.flatMap((line) => (line.startsWith(`  ${state} -->`) ? [line.split(': ')[1] as string] : []))
}
