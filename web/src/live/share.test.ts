import { expect, test } from 'vitest'
import { type Channel, SharedStream } from './share.ts'
import type { LiveEvent, StreamHandlers } from './stream.ts'

type Listen = Parameters<Channel['onMessage']>[0]

/** A browser with tabs: one lock, one channel, and a server that the test is. */
function aBrowser() {
  const listens = new Map<string, Listen>()
  const queue: { tab: string; work: () => void }[] = []
  const opened: { tab: string; after: string | undefined; scopes: readonly string[]; server: StreamHandlers }[] = []
  const channelOf = (tab: string): Channel => ({
    post: (message) => {
      for (const [other, listen] of listens) if (other !== tab) listen(message)
    },
    onMessage: (listen) => void listens.set(tab, listen),
    close: () => listens.delete(tab),
  })
  const lead = (tab: string) => (work: () => void) => {
    const waiting = { tab, work }
    queue.push(waiting)
    if (queue[0] === waiting) work()
    return () => {
      const wasFirst = queue[0] === waiting
      queue.splice(queue.indexOf(waiting), 1)
      if (wasFirst) queue[0]?.work()
    }
  }
  const clock = { now: 1000 }
  const openTab = (tab: string) => {
    const heard: string[] = []
    const states: string[] = []
    const stream = new SharedStream({
      tab,
      channel: channelOf(tab),
      lead: lead(tab),
      open: (asked, server) => {
        opened.push({ tab, ...asked, server })
        return { close: () => {} }
      },
      page: () => new Promise(() => {}),
      onEvents: (events) => heard.push(...events.map(({ id }) => id)),
      onReset: () => heard.push('reset'),
      onState: ({ is }) => states.push(is),
      now: () => clock.now,
    })
    return { stream, heard, states }
  }
  const last = () => opened.at(-1)
  return { openTab, opened, last, clock }
}

const event = (id: number) => ({ id: String(id) }) as LiveEvent

test('one tab has the stream and all hear it', () => {
  const { openTab, opened, last } = aBrowser()
  const [a, b] = [openTab('a'), openTab('b')]
  a.stream.start()
  b.stream.start()
  last()?.server.onHello('1')
  last()?.server.onEvent(event(2))
  last()?.server.onReset('3')
  expect(opened.map(({ tab }) => tab)).toEqual(['a'])
  expect([a.heard, b.heard]).toEqual([
    ['reset', '2', 'reset'],
    ['reset', '2', 'reset'],
  ])
  expect(b.states).toContain('live')
})

test('when the tab with the stream goes, the next goes on where it was', () => {
  const { openTab, last } = aBrowser()
  const [a, b] = [openTab('a'), openTab('b')]
  a.stream.start()
  b.stream.start()
  last()?.server.onHello('1')
  last()?.server.onEvent(event(2))
  a.stream.stop()
  expect(last()).toMatchObject({ tab: 'b', after: '2' })
  last()?.server.onEvent(event(3))
  expect([a.heard, b.heard]).toEqual([
    ['reset', '2'],
    ['reset', '2', '3'],
  ])
})

test('the next goes on where the first was, also when that was told by a hello or a reset', () => {
  for (const tell of [
    (server: StreamHandlers | undefined) => server?.onHello('7'),
    (server: StreamHandlers | undefined) => server?.onReset('7'),
  ]) {
    const { openTab, last } = aBrowser()
    const [a, b] = [openTab('a'), openTab('b')]
    a.stream.start()
    b.stream.start()
    tell(last()?.server)
    a.stream.stop()
    expect(last()).toMatchObject({ tab: 'b', after: '7' })
  }
})

test('the next knows how long ago that was, and follows other scopes from now on', () => {
  const { openTab, last, clock } = aBrowser()
  const [a, b] = [openTab('a'), openTab('b')]
  a.stream.start()
  b.stream.start()
  last()?.server.onHello('1')
  last()?.server.onEvent(event(2))
  clock.now += 100_000
  a.stream.stop()
  expect(last()).toMatchObject({ tab: 'b', after: '2' })
  b.stream.follow(['node'])
  expect(last()).toMatchObject({ tab: 'b', after: undefined, scopes: ['node'] })
})

test('a tab that comes later knows where the others are', () => {
  const { openTab, last } = aBrowser()
  const a = openTab('a')
  a.stream.start()
  last()?.server.onHello('1')
  last()?.server.onEvent(event(4))
  const b = openTab('b')
  b.stream.start()
  a.stream.stop()
  expect(last()).toMatchObject({ tab: 'b', after: '4' })
})

test('a tab that was stopped begins now, and not with all that happened meanwhile', () => {
  const { openTab, last } = aBrowser()
  const a = openTab('a')
  a.stream.start()
  last()?.server.onHello('1')
  last()?.server.onEvent(event(2))
  a.stream.stop()
  a.stream.start()
  expect(last()?.after).toBeUndefined()
  last()?.server.onHello('900')
  expect(a.heard).toEqual(['reset', '2', 'reset'])
})

test('where nobody shows anything, nothing is asked for', () => {
  const { openTab, last } = aBrowser()
  const a = openTab('a')
  a.stream.start()
  expect(last()?.scopes).toEqual(['millrace:nothing'])
  a.stream.follow(['*'])
  expect(last()?.scopes).toEqual([])
})

test('the stream follows what all tabs want', () => {
  const { openTab, last } = aBrowser()
  const [a, b] = [openTab('a'), openTab('b')]
  a.stream.follow(['node'])
  a.stream.start()
  expect(last()?.scopes).toEqual(['node'])
  b.stream.follow(['archive:x'])
  b.stream.start()
  expect(last()?.scopes).toEqual(['archive:x', 'node'])
  b.stream.follow(['*'])
  expect(last()?.scopes).toEqual([])
  b.stream.stop()
  expect(last()?.scopes).toEqual(['node'])
})
