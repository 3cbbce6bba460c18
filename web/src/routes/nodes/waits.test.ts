import { expect, test } from 'vitest'
import { Waits } from './waits.ts'

/** Waits whose server answers when it is told to. */
function someWaits() {
  const told: string[] = []
  const answers: { readonly id: string; readonly answer: (state: string | undefined) => void }[] = []
  const waits = new Waits({
    ask: (id, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        answers.push({ id, answer: resolve })
      }),
    onEnd: (id, state) => told.push(`${id} ${state}`),
    onError: (error) => told.push(error.message),
  })
  const answer = async (state: string | undefined) => {
    answers.at(-1)?.answer(state)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  return { waits, told, answer, asked: () => answers.map(({ id }) => id) }
}

test('the end is told when nobody watches any more, and it is asked again until then', async () => {
  const { waits, told, answer, asked } = someWaits()
  const leave = waits.watch(() => {})
  waits.toggle('7')
  leave()
  await answer(undefined)
  expect(asked()).toEqual(['7', '7'])
  expect(waits.isOn('7')).toBe(true)
  await answer('killed')
  expect(told).toEqual(['7 killed'])
  expect(waits.isOn('7')).toBe(false)
})

test('what was given up tells nothing, and can be begun anew', async () => {
  const { waits, told, answer } = someWaits()
  let changes = 0
  waits.watch(() => {
    changes += 1
  })
  waits.toggle('7')
  waits.toggle('7')
  expect(waits.isOn('7')).toBe(false)
  waits.toggle('7')
  await answer(undefined)
  expect(waits.isOn('7')).toBe(true)
  expect(changes).toBe(3)
  await answer('finished')
  expect(told).toEqual(['7 finished'])
})
