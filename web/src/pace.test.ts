import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

/** A pace whose time passes when it is told to, and whose work ends when it is told to. */
function aPace() {
  const waiting: (() => void)[] = []
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => ends.push(resolve))
  const pace = new Pace(work, 1_000, (then) => {
    waiting.push(then)
    return () => waiting.splice(waiting.indexOf(then), 1)
  })
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0))
  const pass = async () => {
    for (const then of waiting.splice(0)) then()
    await settle()
  }
  const end = async () => {
    for (const resolve of ends.slice(-1)) resolve()
    await settle()
  }
  return { pace, pass, end, begun: () => ends.length }
}

const ask = ({ pace }: ReturnType<typeof aPace>, times: number) => {
  for (let i = 0; i < times; i += 1) void pace.ask()
}

test('the first is done at once, and all that ask meanwhile together, when the time is over', async () => {
  const one = aPace()
  ask(one, 50)
  expect(one.begun()).toBe(1)
  await one.end()
  expect(one.begun()).toBe(1)
  await one.pass()
  expect(one.begun()).toBe(2)
  await one.end()
  await one.pass()
  expect(one.begun()).toBe(2)
})

test('work that takes longer than the time is not begun a second time beside itself', async () => {
  const one = aPace()
  ask(one, 1)
  await one.pass()
  ask(one, 3)
  expect(one.begun()).toBe(1)
  await one.end()
  expect(one.begun()).toBe(2)
})

test('what was not begun is forgotten when it is closed, and it can be asked again', async () => {
  const one = aPace()
  ask(one, 2)
  await one.end()
  one.pace.close()
  await one.pass()
  expect(one.begun()).toBe(1)
  ask(one, 1)
  expect(one.begun()).toBe(2)
})
