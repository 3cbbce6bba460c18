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
    })
    return { stream, heard, states }
  }
  const last = () => opened.at(-1)
  return { openTab, opened, last }
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
    ['2', 'reset'],
    ['2', 'reset'],
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
  expect([a.heard, b.heard]).toEqual([['2'], ['2', '3']])
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
