import { expect, test } from 'vitest'
import { anything, deferred, useEngine } from '../../test/engine.ts'
import { connect } from './millrace.ts'
import { defineWorker } from './worker.ts'

const engine = useEngine()

test('callbacks that hold every connection and all add under a new name do not wait for each other', async () => {
  const size = 3
  const millrace = await connect({ databaseUrl: engine.databaseUrl, poolSize: size })
  const all = deferred()
  let inside = 0
  const worker = defineWorker({
    kind: 'names.crowd',
    payload: anything,
    work: () => undefined,
    async onSuccess(tx, task) {
      inside += 1
      if (inside === size) all.resolve()
      await all.promise // every connection of the pool is in a callback
      await tx.addMany([{ milestone: true, limit: { group: `crowd ${task.id}`, max: 1 } }])
    },
  })
  const added = await millrace.addMany(Array.from({ length: size }, (_, n) => ({ worker, payload: n })))
  const dispatcher = millrace.dispatch([worker], { concurrency: size })
  await dispatcher.started
  await dispatcher.idle()
  const attempts = await Promise.all(added.map(({ id }) => engine.millrace.attempts(id)))
  expect(attempts.map((list) => list.map(({ outcome }) => outcome))).toEqual(added.map(() => ['succeeded']))
  await millrace.close()
})
