// A notification takes a lock of the whole server until its transaction is over: it is there for sleepers alone.
import { beforeEach, describe, expect, test } from 'vitest'
import { aWorker, throwing, useEngine } from '../../test/engine.ts'
import { heardDuring } from '../../test/notifications.ts'
import type { Run } from './run.ts'
import { PermanentError, TransientError } from './work-error.ts'
import { type AnyWorker, later } from './worker.ts'

const engine = useEngine()

beforeEach(() => engine.pool.query('delete from millrace.idle'))

/** Lists a dispatcher as asleep. */
async function sleeper(): Promise<void> {
  const { id, lanes } = await engine.byHand([aWorker()])
  await engine.pool.query('insert into millrace.idle (dispatcher, lanes) values ($1, $2)', [id, lanes])
}

/** A task of the worker is claimed, and another waits for its end. Answers how to perform it. */
async function claimed(worker: AnyWorker): Promise<() => Promise<unknown>> {
  const task = await engine.add(worker)
  await engine.add(aWorker(), { requires: [{ task, when: 'finished' }] })
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  return () => dispatcher.perform(run as Run)
}

// Each prepares what it needs, and answers what is then done while somebody listens.
const ways: [string, () => Promise<() => Promise<unknown>>][] = [
  ['adding a task', async () => () => engine.add(aWorker())],
  ['adding many', async () => () => engine.millrace.addMany([1, 2].map((payload) => ({ worker: aWorker(), payload })))],
  ['a success', () => claimed(aWorker())],
  ['a success with a callback', () => claimed(aWorker({ onSuccess: async (tx) => void (await tx.add(aWorker(), 1)) }))],
  ['a failure', () => claimed(throwing(() => new PermanentError('no')))],
  ['an error that passes', () => claimed(throwing(() => new TransientError('not yet', { retryAfterSeconds: 0 })))],
  ['a wish for later', () => claimed(aWorker({ work: () => later({}) }))],
]

describe.each(ways)('%s', (_what, prepare) => {
  test('sends nothing while nobody sleeps', async () => {
    expect(await heardDuring(engine.pool, await prepare())).toEqual([])
  })

  test('is told to who sleeps', async () => {
    const act = await prepare()
    await sleeper()
    expect(new Set(await heardDuring(engine.pool, act))).toEqual(new Set(['millrace']))
  })
})
