// The workers of the crash tests. Each success writes one row into `crash.effect` in the transaction that records it: rows
// are compared with the engine's own record in the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Pool } from '../../src/db/index.ts'
import { defineWorker, later, TransientError, type Tx } from '../../src/engine/index.ts'

export const CRASH_TABLES = `
  create schema crash;
  create table crash.effect (task bigint not null, epoch int not null, holder int not null, at timestamptz not null default clock_timestamp());
  create table crash.rescheduled (task bigint not null);
`

const writeEffect = (tx: Tx, task: string) =>
  tx.query('insert into crash.effect (task, epoch, holder) select id, epoch, holder from millrace.live where id = $1', [
    task,
  ])

export type Surroundings = {
  readonly pool: Pool
  /** Says something to the test. */
  say(line: string): void
  /** Resolves when the test lets go. */
  released(): Promise<void>
}

const held = z.object({ priority: z.number().optional() })

/** A task of a random graph: may fail for a while, may ask for "later", adds followers when it succeeds. */
export const graphWorker = (around: Pick<Surroundings, 'pool'>) =>
  defineWorker({
    kind: 'crash.graph',
    payload: z.object({ ms: z.number(), failures: z.number(), isLater: z.boolean(), followers: z.number() }),
    maxAttempts: 1000,
    async work({ payload, task }) {
      if (payload.ms > 0) await sleep(payload.ms)
      if (task.failures < payload.failures) throw new TransientError('not yet', { retryAfterSeconds: 0.05 })
      if (!payload.isLater) return undefined
      const { rowCount } = await around.pool.query('select from crash.rescheduled where task = $1', [task.id])
      return rowCount === 0 ? later({ delaySeconds: 0.02 }) : undefined
    },
    async onReschedule(tx, task) {
      await tx.query('insert into crash.rescheduled (task) values ($1)', [task.id])
      const added = await tx.addMany([{ worker: 'crash.graph', payload: leaf }])
      await tx.require(
        task.id,
        added.map((first) => first.id),
      )
    },
    async onSuccess(tx, task) {
      await writeEffect(tx, task.id)
      const { followers } = task.payload
      await tx.addMany(
        Array.from({ length: followers }, (_, i) => ({
          worker: 'crash.graph',
          payload: leaf,
          requires: i > 0 ? [{ item: i - 1 }] : [],
        })),
      )
    },
  })

export const leaf = { ms: 0, failures: 0, isLater: false, followers: 0 }

/** Works until the test lets go. */
export const holdWorker = (around: Omit<Surroundings, 'pool'>) =>
  defineWorker({
    kind: 'crash.hold',
    payload: held,
    async work({ task }) {
      around.say(`begun ${task.id}`)
      await around.released()
    },
    onSuccess: async (tx, task) => void (await writeEffect(tx, task.id)),
  })

/** Like `crash.hold`, without a callback: its success is recorded in the dispatcher's next step. */
export const plainWorker = (around: Omit<Surroundings, 'pool'>) =>
  defineWorker({
    kind: 'crash.plain',
    payload: held,
    async work({ task }) {
      around.say(`begun ${task.id}`)
      await around.released()
    },
  })

/** Works for the time it is given, also after its signal. */
export const timedWorker = (around: Pick<Surroundings, 'say'>) =>
  defineWorker({
    kind: 'crash.timed',
    payload: z.object({ ms: z.number() }),
    async work({ task, payload }) {
      around.say(`begun ${task.id}`)
      await sleep(payload.ms)
    },
    onSuccess: async (tx, task) => void (await writeEffect(tx, task.id)),
  })

/** Stands still in the transaction that records its success, until the test lets go. */
export const callbackWorker = (around: Omit<Surroundings, 'pool'>) =>
  defineWorker({
    kind: 'crash.callback',
    payload: held,
    work: () => undefined,
    async onSuccess(tx, task) {
      await writeEffect(tx, task.id)
      around.say(`in callback ${task.id}`)
      await around.released()
    },
  })

/** Ends as soon as its signal says so, by throwing what the signal carries. */
export const obedientWorker = (around: Omit<Surroundings, 'pool'>) =>
  defineWorker({
    kind: 'crash.obedient',
    payload: held,
    async work({ task, signal }) {
      around.say(`begun ${task.id}`)
      await Promise.race([around.released(), new Promise((resolve) => signal.addEventListener('abort', resolve))])
      around.say(`told ${task.id} ${(signal.reason as { code?: string } | undefined)?.code}`)
      signal.throwIfAborted()
    },
    onSuccess: async (tx, task) => void (await writeEffect(tx, task.id)),
  })

/** Takes its dispatcher down with it. */
export const killerWorker = defineWorker({
  kind: 'crash.killer',
  payload: held,
  async work() {
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  },
})

export const crashWorkers = (around: Surroundings) => [
  graphWorker(around),
  holdWorker(around),
  plainWorker(around),
  timedWorker(around),
  callbackWorker(around),
  obedientWorker(around),
  killerWorker,
]
