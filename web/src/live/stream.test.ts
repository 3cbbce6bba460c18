import { expect, test } from 'vitest'
import { EventStream, type LiveEvent, type StreamHandlers, type StreamState } from './stream.ts'

const event = (id: number) => ({ id: String(id) }) as LiveEvent

type Page = (asked: { after: string }) => Promise<{ items: LiveEvent[]; next_cursor: string | null; position: string }>

/** A stream whose server and clock the test is. */
function aStream(page: Page = never) {
  const opened: { after: string | undefined; scopes: readonly string[]; server: StreamHandlers; isClosed: boolean }[] =
    []
  const heard: string[] = []
  const resets: string[] = []
  const states: StreamState[] = []
  const timers: { work: () => void; ms: number }[] = []
  const clock = { now: 1000 }
  const stream = new EventStream({
    open: (asked, server) => {
      const one = { ...asked, server, isClosed: false }
      opened.push(one)
      return {
        close: () => {
          one.isClosed = true
        },
      }
    },
    page,
    onEvents: (events) => heard.push(...events.map(({ id }) => id)),
    onReset: (position) => resets.push(position),
    onState: (state) => states.push(state),
    now: () => clock.now,
    later: (work, ms) => {
      const timer = { work, ms }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0)
    },
  })
  const last = () => {
    const one = opened.at(-1)
    if (one === undefined) throw new Error('no stream was opened')
    return one
  }
  const runTimer = () => timers.shift()?.work()
  return { stream, opened, heard, resets, states, timers, clock, last, runTimer }
}

const never = () => new Promise<never>(() => {})

test('a broken stream goes on after the last event that was heard', () => {
  const { stream, last, heard, runTimer, states } = aStream()
  stream.start(undefined)
  last().server.onHello('10')
  last().server.onEvent(event(11))
  last().server.onBroken()
  expect(states.at(-1)).toEqual({ is: 'offline', since: 1000 })
  runTimer()
  expect(last().after).toBe('11')
  last().server.onHello('11')
  last().server.onEvent(event(12))
  expect(heard).toEqual(['11', '12'])
  expect(states.at(-1)).toEqual({ is: 'live' })
})

test('a stream that broke before any event goes on from its hello', () => {
  const { stream, last, runTimer } = aStream()
  stream.start(undefined)
  last().server.onHello('10')
  last().server.onBroken()
  runTimer()
  expect(last().after).toBe('10')
})

test('waits grow, and what an earlier opening still says is not listened to', () => {
  const { stream, opened, last, heard, runTimer, timers } = aStream()
  stream.start(undefined)
  last().server.onBroken()
  expect(timers.map(({ ms }) => ms)).toEqual([1000])
  runTimer()
  last().server.onBroken()
  expect(timers.map(({ ms }) => ms)).toEqual([2000])
  opened[0]?.server.onEvent(event(5))
  opened[0]?.server.onBroken()
  expect(heard).toEqual([])
  expect(timers).toHaveLength(1)
})

test('a reset moves the position and is told', () => {
  const { stream, last, resets, runTimer } = aStream()
  stream.start(undefined)
  last().server.onHello('10')
  last().server.onReset('90')
  last().server.onBroken()
  runTimer()
  expect(resets).toEqual(['10', '90'])
  expect(last().after).toBe('90')
})

test('other scopes are followed from the same place', () => {
  const { stream, opened, last } = aStream()
  stream.start(undefined)
  last().server.onHello('10')
  last().server.onEvent(event(11))
  stream.follow(['archive:a'])
  expect(opened[0]?.isClosed).toBe(true)
  expect(last()).toMatchObject({ after: '11', scopes: ['archive:a'], isClosed: false })
  stream.follow(['archive:a'])
  expect(opened).toHaveLength(2)
})

test('other scopes are not followed from long ago: it begins anew, and says so', () => {
  const { stream, last, resets, clock, runTimer } = aStream()
  stream.start(undefined)
  last().server.onHello('10')
  clock.now += 50_000
  last().server.onEvent(event(11))
  clock.now += 50_000
  stream.follow(['archive:a'])
  expect(last().after).toBe('11')
  // To be heard of again tells nothing new.
  last().server.onHello('11')
  clock.now += 50_000
  stream.follow(['archive:b'])
  expect(last().after).toBeUndefined()
  stream.follow(['archive:b', 'node'])
  expect(last().after).toBeUndefined()
  last().server.onHello('900')
  expect(resets).toEqual(['10', '900'])
  stream.follow(['node'])
  expect(last().after).toBe('900')
  // Nothing happened meanwhile: nothing was missed.
  clock.now += 100_000
  stream.follow(['archive:a'])
  last().server.onHello('900')
  expect(resets).toEqual(['10', '900'])
  // What broke follows the same scopes as before: nothing is sent twice, however long it was silent.
  clock.now += 100_000
  last().server.onBroken()
  runTimer()
  expect(last().after).toBe('900')
})

test('a stream that cannot be had is replaced by asking, and tried again later', async () => {
  let position = 10
  const { stream, opened, last, heard, runTimer, states } = aStream(async () => {
    position += 1
    return { items: [event(position)], next_cursor: null, position: String(position) }
  })
  stream.start(undefined)
  last().server.onHello('10')
  last().server.onBroken()
  for (let i = 0; i < 2; i += 1) {
    runTimer()
    last().server.onBroken()
  }
  await expect.poll(() => heard).toEqual(['11'])
  expect(states.at(-1)).toEqual({ is: 'polling' })
  const before = opened.length
  for (let i = 0; i < 12 && opened.length === before; i += 1) {
    const known = heard.length
    runTimer()
    if (opened.length === before) await expect.poll(() => heard.length).toBe(known + 1)
  }
  expect(opened.length).toBe(before + 1)
  expect(last().after).toBe(heard.at(-1))
})

test('the first hello says that what was fetched before may be old; a later one goes on', () => {
  const { stream, last, resets, runTimer } = aStream()
  stream.start(undefined)
  // Other scopes before the first hello: still nothing is known.
  stream.follow(['archive:a'])
  expect(resets).toEqual([])
  last().server.onHello('10')
  expect(resets).toEqual(['10'])
  last().server.onBroken()
  runTimer()
  last().server.onHello('10')
  stream.follow(['archive:b'])
  last().server.onHello('10')
  expect(resets).toEqual(['10'])
})

/** Breaks the stream until it is replaced by asking. */
function breakIt({ last, runTimer }: ReturnType<typeof aStream>) {
  for (let i = 0; i < 3; i += 1) {
    if (i > 0) runTimer()
    last().server.onBroken()
  }
}

test('whoever asks reads all pages at once, and begins anew when there are too many', async () => {
  const asked: string[] = []
  const a = aStream(async ({ after }) => {
    asked.push(after)
    const position = after === 'newest' ? 999_999 : Number(after) + 1000
    const hasMore = after !== 'newest' && position < 100_000
    return { items: [event(position)], next_cursor: hasMore ? String(position) : null, position: String(position) }
  })
  a.stream.start(undefined)
  a.last().server.onHello('97000')
  breakIt(a)
  await expect.poll(() => a.states.at(-1)).toEqual({ is: 'polling' })
  expect(asked).toEqual(['97000', '98000', '99000'])

  const far = asked.length
  const b = aStream(async ({ after }) => {
    asked.push(after)
    const position = after === 'newest' ? 999_999 : Number(after) + 1
    return {
      items: [],
      next_cursor: after === 'newest' ? null : String(position),
      position: String(position),
    }
  })
  b.stream.start(undefined)
  b.last().server.onHello('5')
  breakIt(b)
  await expect.poll(() => b.resets).toEqual(['5', '999999'])
  expect(asked.length - far).toBe(12)
})

test('events that are not kept any more are noticed by asking, too', async () => {
  const a = aStream(async ({ after }) => {
    if (after === '10') throw Object.assign(new Error('gone'), { code: 'position_gone' })
    return { items: [], next_cursor: null, position: '500' }
  })
  a.stream.start(undefined)
  a.last().server.onHello('10')
  breakIt(a)
  await expect.poll(() => a.resets).toEqual(['10', '500'])
  expect(a.stream.position).toBe('500')
  expect(a.states.at(-1)).toEqual({ is: 'polling' })
})

test('where no stream was ever had, asking begins by itself', async () => {
  const a = aStream(async ({ after }) => ({ items: [], next_cursor: null, position: after === 'newest' ? '7' : after }))
  a.stream.start(undefined)
  breakIt(a)
  await expect.poll(() => a.resets).toEqual(['7'])
})

test('a server that was away and answers again is streamed from at once', async () => {
  let isAway = true
  const a = aStream(async ({ after }) => {
    if (isAway) throw new Error('away')
    return { items: [], next_cursor: null, position: after }
  })
  a.stream.start(undefined)
  a.last().server.onHello('10')
  breakIt(a)
  await expect.poll(() => a.timers.length).toBe(1)
  expect(a.states.at(-1)).toEqual({ is: 'offline', since: 1000 })
  isAway = false
  const before = a.opened.length
  a.runTimer()
  await expect.poll(() => a.timers.map(({ ms }) => ms)).toEqual([0])
  a.runTimer()
  expect(a.opened.length).toBe(before + 1)
})

test('a stopped stream says nothing more', () => {
  const { stream, last, heard, timers } = aStream()
  stream.start(undefined)
  const { server } = last()
  stream.stop()
  server.onEvent(event(1))
  server.onBroken()
  expect(heard).toEqual([])
  expect(timers).toEqual([])
  expect(last().isClosed).toBe(true)
})
