import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { actOnMany } from './act-on-many.ts'
import type { Millrace } from './index.ts'

const engine = useEngine()

test('a task that is gone by the time is refused, and the others are acted on', async () => {
  const worker = aWorker()
  const scope = 'many'
  const ids: string[] = []
  for (let i = 0; i < 3; i += 1) ids.push(await engine.add(worker, { scope }))
  const [first = '', gone = '', last = ''] = ids
  const { millrace, pool } = engine
  const meanwhile = {
    async list(...asked: Parameters<Millrace['list']>) {
      const page = await millrace.list(...asked)
      await pool.query('delete from millrace.live where id = $1', [gone])
      await pool.query('delete from millrace.task where id = $1', [gone])
      return page
    },
    cancel: (...asked: Parameters<Millrace['cancel']>) => millrace.cancel(...asked),
  } as unknown as Millrace
  const options = { filter: { scope }, expectedCount: 3, isDryRun: false, actor: 'test' }
  const result = await actOnMany(meanwhile, 'cancel', options)
  expect(result).toMatchObject({ count: 3, acted: 2, refusedCount: 1, refused: [{ id: gone }] })
  expect(await engine.states(first, last)).toEqual(['canceled', 'canceled'])
})
