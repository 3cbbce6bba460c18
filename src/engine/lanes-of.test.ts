import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import type { AnyWorker } from './worker.ts'

const engine = useEngine()

const NAMES = ['a', 'b', 'c']

test.each(['a', 'a, b', 'b, a', 'c, a', 'c, b', 'a, b, c', 'c, b, a'])(
  'of the workers a, b and c, a dispatcher given %s performs the tasks of these and leaves the rest ready',
  async (list) => {
    const given = list.split(', ')
    const ran: string[] = []
    const workers = new Map(NAMES.map((name) => [name, aWorker({ work: () => void ran.push(name) })]))
    const named = (name: string) => workers.get(name) as AnyWorker
    // Each of them in turn, so that what is left lies between what is taken.
    const order = [...NAMES, ...NAMES]
    const tasks = await engine.millrace.addMany(order.map((name) => ({ worker: named(name), payload: {} })))
    const dispatcher = await engine.dispatch(given.map(named))
    await dispatcher.idle()
    expect(ran.sort()).toEqual([...given, ...given].sort())
    const expected = order.map((name) => (given.includes(name) ? 'succeeded' : 'ready'))
    expect(await engine.states(...tasks.map(({ id }) => id))).toEqual(expected)
  },
)
