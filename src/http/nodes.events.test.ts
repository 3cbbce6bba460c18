import { describe, expect, test } from 'vitest'
import { listenTo, type Told } from '../../test/events.ts'
import { below, command, sleeping, useNodes } from '../../test/nodes.ts'

const nodes = useNodes()

const stream = (options = {}) => listenTo(`${nodes.server.url}/v1/events?scope=node`, options)
const told = (event: Told['json']) => [event.name, event.key ?? event.detail?.nodes]

describe('T11: subscribing', () => {
  test('every change of a node is told in order, with its id', async () => {
    const listening = await stream()
    await listening.until(({ event }) => event === 'hello')
    const [parent, child] = await nodes.add(command('true'), below('#0', command('false')))
    await listening.until(({ json }) => json.name === 'failed')
    const events = listening.events()
    const of = (id: string | undefined) => events.filter((event) => event.key === id).map(({ to }) => to)
    expect(of(parent)).toEqual(['waiting', 'ready', 'running', 'succeeded'])
    expect(of(child)).toEqual(['waiting', 'ready', 'running', 'failed'])
    expect(events.filter(({ name }) => name === 'node.added').map(told)).toEqual([['node.added', [parent, child]]])
    const at = (id: string | undefined, to: string) => events.findIndex((event) => event.key === id && event.to === to)
    expect(at(parent, 'succeeded')).toBeLessThan(at(child, 'running'))
  })

  test('editing, moving, data and removing are told, with who did it', async () => {
    const [gate, id] = await nodes.add(sleeping(3600), below('#0', command('true')))
    const listening = await stream()
    await listening.until(({ event }) => event === 'hello')
    await nodes.ask('PATCH', `/v1/nodes/${id}`, { body: { data: { args: [] } } })
    await nodes.ask('PATCH', `/v1/nodes/${id}`, { body: { metadata: { parent: gate, run_if: 'failure' } } })
    await nodes.ask('PUT', `/v1/nodes/${id}/data/own`, { body: { value: 1 } })
    await nodes.ask('DELETE', `/v1/nodes/${id}`)
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${gate}`)
    await listening.until(({ json }) => json.name === 'canceled' && json.key === gate)
    const own = listening.events().filter(({ name, key }) => name.startsWith('node.') && key === id)
    expect(own.map(({ name, actor, detail }) => [name, actor, detail.node, detail.key])).toEqual([
      ['node.changed', 'admin', id, undefined],
      ['node.changed', 'admin', id, undefined],
      ['node.data_changed', 'admin', id, 'own'],
      ['node.removed', 'admin', id, undefined],
    ])
  })

  test('a move is told as one', async () => {
    const [gate, other, id] = await nodes.add(sleeping(3600), sleeping(3600), below('#0', command('true')))
    const listening = await stream()
    await listening.until(({ event }) => event === 'hello')
    await nodes.ask('PATCH', `/v1/nodes/${id}`, { body: { metadata: { parent: other } } })
    const moved = await listening.until(({ json }) => json.name === 'node.moved')
    expect(moved.json).toMatchObject({ key: id, detail: { node: id, parent: other } })
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${gate},${other}`)
  })

  test('whoever comes back with the last id gets what was missed, and nothing twice', async () => {
    const first = await stream()
    await first.until(({ event }) => event === 'hello')
    const [one] = await nodes.add(sleeping(0))
    const last = await first.until(({ json }) => json.name === 'succeeded' && json.key === one)
    first.close()
    const [two] = await nodes.run(sleeping(0))
    const again = await stream({ lastEventId: last.id })
    await again.until(({ json }) => json.name === 'succeeded' && json.key === two.metadata.id)
    const keys = again.events().map(({ key }) => key)
    expect(keys).not.toContain(one)
    expect(
      again
        .events()
        .filter(({ key }) => key === two.metadata.id)
        .at(0)?.name,
    ).toBe('created')
  })
})
