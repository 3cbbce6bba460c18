import { describe, expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { PermanentError } from './work-error.ts'

const engine = useEngine()

test('when the later one becomes ready, earlier ones that wait, are ready, delayed or held are canceled at once', async () => {
  const worker = aWorker()
  const required = await engine.add(aWorker())
  const earlier = [
    await engine.add(worker, { requires: [required] }),
    await engine.add(worker),
    await engine.add(worker, { delaySeconds: 60 }),
    await engine.add(worker, { heldBy: 'ada' }),
  ]
  const later = await engine.add(worker, { cancels: earlier })
  expect(await engine.states(...earlier, later)).toEqual(['canceled', 'canceled', 'canceled', 'canceled', 'ready'])
  for (const id of earlier) {
    expect(await engine.millrace.task(id)).toMatchObject({ supersededBy: later, cause: `superseded by task ${later}` })
  }
})

describe('along a chain', () => {
  /** Three in a line, each of which cancels all before it and waits for a task of its own. */
  async function aLine() {
    const [worker, gate] = [aWorker(), aWorker()]
    const first = await engine.add(worker, { heldBy: 'ada' })
    const gates = [await engine.add(gate), await engine.add(gate)] as const
    const second = await engine.add(worker, { cancels: [{ task: first, isChain: true }], requires: [gates[0]] })
    const third = await engine.add(worker, { cancels: [{ task: second, isChain: true }], requires: [gates[1]] })
    return { gate, gates, line: [first, second, third] as const }
  }

  test('the later one cancels what the one before it has not come to cancel', async () => {
    const { gates, line } = await aLine()
    await engine.millrace.succeed(gates[1])
    expect(await engine.states(...line)).toEqual(['canceled', 'canceled', 'ready'])
  })

  test('one that was skipped passes its targets on', async () => {
    const { gates, line } = await aLine()
    await engine.millrace.cancel(gates[0])
    expect(await engine.states(...line)).toEqual(['held', 'skipped', 'waiting'])
    await engine.millrace.succeed(gates[1])
    expect(await engine.states(...line)).toEqual(['canceled', 'skipped', 'ready'])
  })

  test('what was asked for again after the one before it had its turn is left alone', async () => {
    const { gates, line } = await aLine()
    await engine.millrace.succeed(gates[0])
    expect(await engine.states(...line)).toEqual(['canceled', 'ready', 'waiting'])
    await engine.millrace.retry(line[0])
    await engine.millrace.succeed(gates[1])
    expect(await engine.states(...line)).toEqual(['ready', 'canceled', 'ready'])
  })

  test('without it the targets of a target are none of its own', async () => {
    const worker = aWorker()
    const first = await engine.add(worker, { heldBy: 'ada' })
    const second = await engine.add(worker, { cancels: [first], requires: [await engine.add(aWorker())] })
    const third = await engine.add(worker, { cancels: [second] })
    expect(await engine.states(first, second, third)).toEqual(['held', 'canceled', 'ready'])
  })
})

test('nothing is canceled while the later one waits', async () => {
  const [worker, other] = [aWorker(), aWorker()]
  const earlier = await engine.add(worker)
  const required = await engine.add(other)
  const later = await engine.add(worker, { cancels: [earlier], requires: [required] })
  expect(await engine.states(earlier, later)).toEqual(['ready', 'waiting'])
  await engine.drain(other)
  expect(await engine.states(earlier, later)).toEqual(['canceled', 'ready'])
})

test('nothing is canceled by a later one that is skipped or canceled before it is ready', async () => {
  const worker = aWorker()
  const failing = aWorker({
    work() {
      throw new PermanentError('no')
    },
  })
  const earlier = await engine.add(worker, { heldBy: 'ada' })
  const culprit = await engine.add(failing)
  const skipped = await engine.add(worker, { cancels: [earlier], requires: [culprit] })
  const canceled = await engine.add(worker, { cancels: [earlier], requires: [await engine.add(aWorker())] })
  await engine.drain(failing)
  await engine.millrace.cancel(canceled)
  expect(await engine.states(earlier, skipped, canceled)).toEqual(['held', 'skipped', 'canceled'])
})

test('a running one is stopped through its signal, and the later one starts when it has ended', async () => {
  const begun = deferred()
  const stopped = deferred<{ code: string }>()
  const end = deferred()
  const order: string[] = []
  const worker = aWorker({
    async work({ payload, signal }) {
      order.push(`${payload} begins`)
      if (payload === 'earlier') {
        begun.resolve()
        signal.addEventListener('abort', () => stopped.resolve(signal.reason))
        await end.promise
      }
      order.push(`${payload} ends`)
    },
  })
  const earlier = await engine.add(worker, {}, 'earlier')
  const dispatcher = await engine.dispatch([worker])
  await begun.promise
  const later = await engine.add(worker, { cancels: [earlier] }, 'later')
  expect((await stopped.promise).code).toBe('canceled')
  expect(await engine.millrace.task(earlier)).toMatchObject({
    state: 'running',
    isCanceling: true,
    supersededBy: later,
  })
  expect(await engine.states(later)).toEqual(['waiting'])
  expect((await engine.millrace.why(later)).culprits).toEqual([earlier])
  end.resolve()
  await dispatcher.idle()
  expect(order).toEqual(['earlier begins', 'earlier ends', 'later begins', 'later ends'])
  expect(await engine.millrace.task(earlier)).toMatchObject({ state: 'canceled', supersededBy: later })
  expect(await engine.states(later)).toEqual(['succeeded'])
})

test('a running one on a dispatcher that dies lets the later one start when its lease has run out', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  const dispatcher = await engine.byHand([worker])
  await dispatcher.claim()
  const later = await engine.add(worker, { cancels: [earlier] })
  expect(await engine.states(later)).toEqual(['waiting'])
  await engine.expire(dispatcher.id)
  expect(await engine.states(earlier, later)).toEqual(['canceled', 'ready'])
})

test('a running one whose success is on its way when the later one comes ends as canceled', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  const later = await engine.add(worker, { cancels: [earlier] })
  if (run) expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'canceled' })
  expect(await engine.states(earlier, later)).toEqual(['canceled', 'ready'])
})

test('one that has ended stays as it is', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  await engine.drain(worker)
  const later = await engine.add(worker, { cancels: [earlier] })
  expect(await engine.states(earlier, later)).toEqual(['succeeded', 'ready'])
})

test('the last of a line cancels all before it, and one chain of them ends with one that runs', async () => {
  const worker = aWorker()
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) ids.push(await engine.add(worker, { cancels: [...ids] }))
  expect(await engine.states(...ids)).toEqual(['canceled', 'canceled', 'canceled', 'canceled', 'ready'])
  expect((await engine.drain(worker)).performed).toHaveLength(1)
})

test('what depends on the canceled one is skipped, and says so', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  const dependent = await engine.add(worker, { requires: [earlier] })
  await engine.add(worker, { cancels: [earlier] })
  expect(await engine.millrace.task(dependent)).toMatchObject({
    state: 'skipped',
    culprit: earlier,
    supersededBy: null,
  })
})

test('one of the same call can be superseded', async () => {
  const worker = aWorker()
  const added = await engine.millrace.addMany([
    { worker, payload: 'earlier' },
    { worker, payload: 'later', cancels: [{ item: 0 }] },
  ])
  expect(await engine.states(...added.map(({ id }) => id))).toEqual(['canceled', 'ready'])
})

test('a milestone can supersede', async () => {
  const earlier = await engine.add(aWorker())
  const { id } = await engine.millrace.addMilestone({ cancels: [earlier] })
  expect(await engine.states(earlier, id)).toEqual(['canceled', 'succeeded'])
})

describe('a held or delayed later one', () => {
  test('supersedes when it is released', async () => {
    const worker = aWorker()
    const earlier = await engine.add(worker)
    const later = await engine.add(worker, { cancels: [earlier], heldBy: 'ada' })
    expect(await engine.states(earlier)).toEqual(['ready'])
    await engine.millrace.release(later)
    expect(await engine.states(earlier, later)).toEqual(['canceled', 'ready'])
  })

  test('supersedes when its time has come', async () => {
    const worker = aWorker()
    const earlier = await engine.add(worker, { heldBy: 'ada' })
    const later = await engine.add(worker, { cancels: [earlier], delaySeconds: 60 })
    expect(await engine.states(earlier, later)).toEqual(['held', 'delayed'])
    await engine.pool.query('update millrace.live set not_before = clock_timestamp() where id = $1', [later])
    const { performed } = await engine.drain(worker)
    expect(performed).toMatchObject([{ id: later }])
    expect(await engine.states(earlier)).toEqual(['canceled'])
  })
})

test('one that was superseded and is asked for again runs, for the later one has ended', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  await engine.add(worker, { cancels: [earlier] })
  await engine.drain(worker)
  await engine.millrace.retry(earlier)
  expect(await engine.states(earlier)).toEqual(['ready'])
})

test('a later one that is retried supersedes again', async () => {
  let isBroken = true
  const worker = aWorker({
    work() {
      if (isBroken) throw new PermanentError('no')
    },
  })
  const earlier = await engine.add(aWorker(), { heldBy: 'ada' })
  const later = await engine.add(worker, { cancels: [earlier] })
  await engine.drain(worker)
  await engine.millrace.retry(earlier)
  expect(await engine.states(earlier, later)).toEqual(['ready', 'failed'])
  isBroken = false
  await engine.millrace.retry(later)
  expect(await engine.states(earlier, later)).toEqual(['canceled', 'ready'])
})
