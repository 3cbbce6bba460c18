import { expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { WorkerNotFound } from './index.ts'

const engine = useEngine()

/** A worker whose tasks end when they are told to. */
function aLasting() {
  const over = deferred()
  const begun: string[] = []
  const worker = aWorker({
    async work({ payload }: { payload: unknown }) {
      begun.push(String(payload))
      await over.promise
      return undefined
    },
  })
  return { worker, begun, end: () => over.resolve() }
}

/** Waits until the dispatcher has heard what it is asked now: the second heartbeat from now is sent after the first was answered. */
async function heard(dispatcher: number): Promise<void> {
  const lease = async () =>
    String(
      (await engine.pool.query('select expires_at::text as at from millrace.dispatcher where id = $1', [dispatcher]))
        .rows[0].at,
    )
  for (let beat = 0; beat < 2; beat += 1) {
    const before = await lease()
    await waitFor(async () => ((await lease()) === before ? undefined : true))
  }
}

const stateOf = async (id: string) => (await engine.millrace.task(id)).state

test('a paused dispatcher ends what it performs, takes nothing, and goes on when it is resumed', async () => {
  const { worker, begun, end } = aLasting()
  const first = await engine.millrace.add(worker, 'first')
  const dispatcher = engine.millrace.dispatch([worker], { concurrency: 1, leaseSeconds: 3 })
  await waitFor(() => (begun.length === 1 ? true : undefined))
  const second = await engine.millrace.add(worker, 'second')
  await engine.millrace.want(dispatcher.id, 'paused', { actor: 'ann' })
  const found = (await engine.millrace.dispatchers()).find(({ id }) => id === dispatcher.id)
  expect(found).toMatchObject({ wanted: 'paused', wantedBy: 'ann', slots: 1, process: process.pid, isAlive: true })
  await heard(dispatcher.id)
  // What was claimed to be performed next is handed back.
  await waitFor(async () => ((await stateOf(second.id)) === 'ready' ? true : undefined))
  end()
  await waitFor(async () => ((await stateOf(first.id)) === 'succeeded' ? true : undefined))
  await dispatcher.idle()
  expect([begun, await stateOf(second.id)]).toEqual([['first'], 'ready'])
  expect((await engine.millrace.why(second.id)).sentence).toContain('no dispatcher takes')
  await engine.millrace.want(dispatcher.id, 'running')
  await waitFor(async () => ((await stateOf(second.id)) === 'succeeded' ? true : undefined))
  await dispatcher.stop()
})

test('a draining dispatcher tells when it has nothing left', async () => {
  const { worker, begun, end } = aLasting()
  await engine.millrace.add(worker, 'only')
  let isDrained = false
  const dispatcher = engine.millrace.dispatch([worker], {
    onDrained: () => {
      isDrained = true
    },
  })
  await waitFor(() => (begun.length === 1 ? true : undefined))
  await engine.millrace.want(dispatcher.id, 'draining')
  expect(isDrained).toBe(false)
  end()
  await waitFor(() => (isDrained ? true : undefined))
  const later = await engine.millrace.add(worker, 'later')
  await dispatcher.idle()
  expect(await stateOf(later.id)).toBe('ready')
  await dispatcher.stop()
})

test('a dispatcher that lost its lease is still paused under its next number', async () => {
  const { worker } = aLasting()
  const dispatcher = engine.millrace.dispatch([worker], { name: 'lost', leaseSeconds: 3 })
  await dispatcher.started
  const { id } = dispatcher
  await engine.millrace.want(id, 'paused', { actor: 'ann' })
  await engine.expire(id)
  await waitFor(() => (dispatcher.id === id ? undefined : true))
  const [found] = (await engine.millrace.dispatchers()).filter(({ name }) => name === 'lost')
  expect(found).toMatchObject({ id: dispatcher.id, wanted: 'paused', wantedBy: 'ann' })
  await dispatcher.stop()
})

test('nothing can be asked of one that has stopped', async () => {
  const dispatcher = engine.millrace.dispatch([aWorker()])
  await dispatcher.started
  const { id } = dispatcher
  await dispatcher.stop()
  await expect(engine.millrace.want(id, 'paused')).rejects.toThrow(WorkerNotFound)
  const [found] = (await engine.millrace.dispatchers({ all: true })).filter((one) => one.id === id)
  expect([found?.isAlive, found?.stoppedAt instanceof Date]).toEqual([false, true])
})

test('subscribers are told of dispatchers that are asked something or die', async () => {
  const dispatcher = engine.millrace.dispatch([aWorker()], { name: 'told' })
  await dispatcher.started
  const { id } = dispatcher
  await engine.millrace.want(id, 'paused', { actor: 'ann' })
  await engine.expire(id)
  await dispatcher.stop()
  const filter = { scope: 'worker:told' }
  const { events } = await engine.millrace.events({ after: 'oldest', filter })
  expect(events.map(({ name, actor }) => [name, actor])).toEqual([
    ['worker.paused', 'ann'],
    ['worker.died', null],
  ])
  expect(events[0]?.detail).toMatchObject({ worker: id, name: 'told', wanted: 'paused' })
})
