import { describe, expect, test } from 'vitest'
import { below, command, sleeping, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'

const nodes = useNodes()

const MOST = 10_000
const ask = (path: string) => nodes.ask('GET', path)

/** How many nodes there are in each state, by the database. */
async function counts(): Promise<Record<string, number>> {
  const { rows } = await nodes.server.database.pool.query(
    'select state, count(*)::int as count from millrace.node_now group by state',
  )
  return Object.fromEntries(rows.map((row) => [row.state, row.count]))
}

describe('T14: many nodes', () => {
  test('a thousand nodes in a tree run to their end, each once and after its parent', async () => {
    const ids = await nodes.add(
      ...Array.from({ length: 1000 }, (_, i) =>
        below(i === 0 ? 'root' : `#${Math.floor((i - 1) / 10)}`, command('true')),
      ),
    )
    const states = await nodes.ended(...ids)
    expect(new Set(states)).toEqual(new Set(['finished']))
    const { rows } = await nodes.server.database.pool.query(`
      select count(*)::int as count
      from millrace.node_now child join millrace.node_now parent on parent.id = child.parent
      where child.started_at < parent.finished_at
    `)
    expect(rows[0].count).toBe(0)
    const { rows: attempts } = await nodes.server.database.pool.query('select * from millrace.attempt limit 1')
    expect(attempts).toEqual([])
  })

  test('a server with nothing to do but wait is at rest', async () => {
    const ids = await nodes.add(...Array.from({ length: 500 }, () => sleeping(3600)))
    await waitFor(async () => ((await counts())['running'] === 500 ? true : undefined))
    const before = process.cpuUsage()
    const from = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 2000))
    const { user, system } = process.cpuUsage(before)
    // The server runs in this process. A busy loop would take all of it.
    expect((user + system) / 1000 / (performance.now() - from)).toBeLessThan(0.5)
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${ids.join(',')}`)
    expect((await counts())['running']).toBeUndefined()
  })

  test('ten thousand nodes are added in one request, and one more is refused', async () => {
    const [gate] = await nodes.add(sleeping(3600))
    const items = Array.from({ length: MOST }, (_, i) => below(gate as string, command('true'), { data: { i } }))
    const ids = await nodes.add(...items)
    expect(ids).toHaveLength(MOST)
    expect((await counts())['incipient']).toBe(MOST)
    const more = await nodes.ask('POST', '/v1/nodes', { body: [...items, items[0]] })
    expect(more.json).toMatchObject({ status: 400, errors: [{ pointer: '/body' }] })
    expect((await ask(`/v1/nodes?parent=${gate}&limit=10000&metadata=id`)).json).toHaveLength(MOST)
    const kill = await nodes.ask('PUT', `/v1/scheduler/kill?id=${gate}`)
    expect(kill.status).toBe(200)
    await waitFor(async () => ((await counts())['incipient'] === undefined ? true : undefined))
    expect((await counts())['skipped']).toBe(MOST)
    expect((await nodes.ask('DELETE', `/v1/nodes/${gate}?chain=true`)).json).toEqual({ removed: MOST + 1 })
  })

  test('a tree ten thousand levels deep is added, moved, killed and removed as a whole', async () => {
    const [gate, other] = await nodes.add(sleeping(3600), sleeping(3600))
    const ids = await nodes.add(
      ...Array.from({ length: MOST }, (_, i) => below(i === 0 ? (gate as string) : `#${i - 1}`, command('true'))),
    )
    const [first, last] = [ids[0] as string, ids.at(-1) as string]
    const cycle = await nodes.ask('PATCH', `/v1/nodes/${first}`, { body: { metadata: { parent: last } } })
    expect(cycle.json).toMatchObject({ status: 409, code: 'node_cycle' })
    const moved = await nodes.ask('PATCH', `/v1/nodes/${first}`, { body: { metadata: { parent: other } } })
    expect(moved.status).toBe(200)
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${gate}`)
    expect(await nodes.states(first, last)).toEqual(['incipient', 'incipient'])
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${other}`)
    await waitFor(async () => ((await nodes.states(last))[0] === 'skipped' ? true : undefined))
    expect((await nodes.ask('DELETE', `/v1/nodes/${other}?chain=true`)).json).toEqual({ removed: MOST + 1 })
  })

  test('ten megabytes of data in one request are kept, and forty are refused', async () => {
    const big = 'x'.repeat(1_000_000)
    const items = Array.from({ length: 10 }, () => below('root', sleeping(0), { data: { big } }))
    const [id] = await nodes.add(...items)
    expect(await nodes.get(id as string)).toMatchObject({ omitted: ['big'] })
    const tooMuch = Array.from({ length: 40 }, () => items[0])
    expect((await nodes.ask('POST', '/v1/nodes', { body: tooMuch })).json).toMatchObject({ status: 413 })
  })
})
