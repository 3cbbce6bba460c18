import { expect, test } from 'vitest'
import { aWorker, deferred } from '../../test/engine.ts'
import { type Finished, Refused } from './refused.ts'
import { Run } from './run.ts'

const row = { epoch: 1, failures: 0, deaths: 0, scope: '', key: null, creator: null, payload: null }
const finished = (id: string): Finished => ({
  run: new Run(aWorker(), { ...row, id }, 1),
  output: null,
  isUnchanged: false,
  refusals: 0,
})
const ids = (all: readonly Finished[]) => all.map(({ run }) => run.id)

test('what was refused once is offered again at once; what was refused twice is looked into first', async () => {
  const asked: string[][] = []
  const again: Finished[] = []
  const answer = deferred<readonly Run[]>()
  const refused = new Refused({
    resolve: (runs) => {
      asked.push(runs.map(({ id }) => id))
      return answer.promise
    },
    onAgain: (all) => again.push(...all),
  })
  refused.settle([finished('1'), finished('2'), finished('3')], ['2'])
  expect(ids(again)).toEqual(['1', '3'])
  expect(asked).toEqual([])

  const twice = again.splice(0)
  refused.settle([...twice, finished('4')], [])
  expect(ids(again)).toEqual(['4'])
  expect(asked).toEqual([['1', '3']])
  expect([refused.size, refused.has('1', 1), refused.has('1', 2), refused.has('4', 1)]).toEqual([2, true, false, false])

  again.length = 0
  answer.resolve([(twice[1] as Finished).run])
  await expect.poll(() => refused.size).toBe(0)
  expect(again).toMatchObject([{ run: { id: '3' }, refusals: 2 }])
})

test('while nobody can say what became of them they are offered again', async () => {
  const again: Finished[] = []
  const refused = new Refused({
    resolve: () => Promise.reject(new Error('away')),
    onAgain: (all) => again.push(...all),
  })
  refused.settle([{ ...finished('1'), refusals: 1 }], [])
  await expect.poll(() => ids(again)).toEqual(['1'])
  expect(refused.size).toBe(0)
})
