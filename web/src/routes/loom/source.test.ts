import { expect, test } from 'vitest'
import { codeOf } from './cloth.ts'
import { LoomSource } from './source.ts'
import { anEvent, aPage, taskOf, type WovenRow } from './woven.ts'

const columns = ['COMMIT', 'build']
const done: WovenRow = { cells: { COMMIT: 'succeeded', build: 'succeeded' } }

/** A server with that many finished revisions, and timers that the test lets pass. */
function aServer(count: number) {
  const state = {
    planned: count,
    rows: new Map<number, WovenRow>(),
    hold: undefined as Promise<void> | undefined,
    isAway: false,
  }
  const asked: string[] = []
  const timers: (() => void)[] = []
  const source = new LoomSource({
    async ask({ before, limit }) {
      asked.push(`${before ?? 'newest'} ${limit}`)
      const top = (before ?? state.planned + 1) - 1
      const rows: Record<number, WovenRow> = {}
      for (let number = top; number > Math.max(0, top - limit); number -= 1)
        rows[number] = state.rows.get(number) ?? done
      const page = aPage(columns, rows, { planned: state.planned, youngest: state.planned })
      await state.hold
      if (state.isAway) throw new Error('away')
      return page
    },
    later(work) {
      timers.push(work)
      return () => void timers.splice(timers.indexOf(work), 1)
    },
  })
  const pass = async () => {
    while (timers.length > 0) timers.shift()?.()
    await new Promise((resolve) => setTimeout(resolve))
  }
  return { source, state, asked, pass }
}

test('scrolling through 5,000 revisions and back asks for each page once', async () => {
  const { source, asked, pass } = aServer(5000)
  await source.start()
  for (let top = 5000; top > 30; top -= 30) {
    source.want({ first: top - 30, last: top })
    await pass()
  }
  const there = asked.length
  expect(there).toBe(50)
  for (let top = 30; top < 5000; top += 30) {
    source.want({ first: top - 30, last: top })
    await pass()
  }
  expect(asked.length).toBe(there)
  expect(new Set(asked).size).toBe(there)
})

test('more rows than there is room for are forgotten, the farthest first', async () => {
  const { source, pass } = aServer(14_000)
  await source.start()
  for (let top = 14_000; top > 60; top -= 60) {
    source.want({ first: top - 60, last: top })
    await pass()
  }
  expect(source.cloth.rows.size).toBeLessThanOrEqual(10_200)
  expect(source.cloth.rows.has(100)).toBe(true)
  expect(source.cloth.rows.has(14_000)).toBe(true)
  expect(source.cloth.rows.has(13_000)).toBe(false)
})

test('an event changes a cell without any request', async () => {
  const { source, state, asked } = aServer(3)
  state.rows.set(3, { cells: { COMMIT: 'succeeded', build: 'running' } })
  await source.start()
  source.hear([anEvent({ task: String(taskOf(3, 1)), key: '3:build', to: 'failed' })])
  expect(source.cloth.state(3, 1)).toBe(codeOf.failed)
  expect(asked).toEqual(['newest 100'])
})

test('new revisions are fetched alone, and many at once as one', async () => {
  const { source, state, asked, pass } = aServer(50)
  await source.start()
  state.planned = 52
  source.hear([anEvent({ name: 'revision.planned', detail: { first: 51, last: 52 } })])
  await pass()
  expect(asked).toEqual(['newest 100', 'newest 2'])
  for (let last = 53; last < 60; last += 1) {
    state.planned = last
    source.hear([anEvent({ name: 'revision.planned', detail: { first: last, last } })])
  }
  await pass()
  await pass()
  expect(asked.length).toBeLessThanOrEqual(4)
  expect(source.cloth.planned).toBe(59)
})

test('an event that comes while its page is on the way is not lost', async () => {
  const { source, state } = aServer(3)
  state.rows.set(3, { cells: { COMMIT: 'succeeded', build: 'running' } })
  let let_go = () => {}
  state.hold = new Promise((resolve) => {
    let_go = resolve
  })
  const started = source.start()
  source.hear([anEvent({ task: String(taskOf(3, 1)), key: '3:build', to: 'succeeded' })])
  let_go()
  await started
  expect(source.cloth.state(3, 1)).toBe(codeOf.succeeded)
})

test('a new run of a task fetches its row again, and no other', async () => {
  const { source, asked, pass } = aServer(500)
  await source.start()
  source.want({ first: 90, last: 110 })
  await pass()
  asked.length = 0
  source.hear([anEvent({ task: '999999999', key: '100:build#2', to: 'ready' })])
  await pass()
  expect(asked).toEqual(['newest 1', '101 1'])
})

test('after missed events what is in view is fetched again, and the rest when it is looked at', async () => {
  const { source, asked, pass } = aServer(1000)
  await source.start()
  for (const top of [1000, 900, 800, 700]) {
    source.want({ first: top - 30, last: top })
    await pass()
  }
  asked.length = 0
  source.reset()
  await pass()
  await pass()
  expect(asked.length).toBeGreaterThan(1)
  expect(source.cloth.rows.has(690)).toBe(true)
  expect(source.cloth.rows.has(850)).toBe(false)
})

test('after missed events rows are fetched again also when more was planned than anybody told', async () => {
  const { source, state, pass } = aServer(50)
  state.rows.set(45, { cells: { COMMIT: 'succeeded', build: 'running' } })
  await source.start()
  source.want({ first: 1, last: 50 })
  await pass()
  state.rows.set(45, done)
  state.planned = 130
  source.reset()
  await pass()
  expect(source.cloth.planned).toBe(130)
  expect(source.cloth.state(45, 1)).toBe(codeOf.succeeded)
})

test('rows that could not be fetched again are fetched when it is tried again', async () => {
  const { source, state, pass } = aServer(300)
  for (const number of [290, 20]) state.rows.set(number, { cells: { COMMIT: 'succeeded', build: 'running' } })
  await source.start()
  source.want({ first: 1, last: 300 })
  await pass()
  await pass()
  for (const number of [290, 20]) state.rows.set(number, done)
  state.isAway = true
  source.reset()
  await pass()
  expect([source.error?.message, source.cloth.state(290, 1)]).toEqual(['away', codeOf.running])
  state.isAway = false
  source.retry()
  await pass()
  await pass()
  expect(source.error).toBeUndefined()
  expect([290, 20].map((number) => source.cloth.state(number, 1))).toEqual([codeOf.succeeded, codeOf.succeeded])
})

test('a page that cannot be had is told, and asked for again when wanted', async () => {
  const { source, asked, pass } = aServer(300)
  await source.start()
  const { cloth } = source
  const failing = new LoomSource({
    ask: async () => {
      throw new Error('away')
    },
  })
  await failing.start()
  expect([failing.isLoaded, failing.error?.message]).toEqual([false, 'away'])
  source.want({ first: 1, last: 30 })
  await pass()
  expect(cloth.rows.has(1)).toBe(true)
  expect(asked.length).toBe(2)
})
