import { describe, expect, test } from 'vitest'
import { below, command, shell, sleeping, useNodes } from '../../test/nodes.ts'
import { isAlive, waitFor } from '../../test/processes.ts'
import { aServer } from '../../test/server.ts'

const nodes = useNodes({ grace_seconds: 1 })

const kill = (...ids: string[]) => nodes.ask('PUT', `/v1/scheduler/kill?id=${ids.join(',')}`)
const wait = (query: string, headers: Record<string, string> = {}) =>
  nodes.ask('GET', `/v1/scheduler/wait?${query}`, { headers })

/** A node that runs, and the pids it printed. */
async function running(script: string, count: number): Promise<{ id: string; pids: number[] }> {
  const [id] = (await nodes.add(shell(script))) as [string]
  const pids = await waitFor(async () => {
    const { json } = await nodes.ask('GET', `/v1/nodes/${id}/data/stdout`)
    const lines = (json.data ?? '').trim().split('\n').filter(Boolean)
    return lines.length >= count ? lines.map(Number) : undefined
  })
  for (const pid of pids) expect(isAlive(pid)).toBe(true)
  return { id, pids }
}

describe('T7: killing', () => {
  test('a node that has not started never does, and what waits for it is skipped', async () => {
    const [parent, id, child] = (await nodes.add(
      sleeping(3600),
      below('#0', command('true')),
      below('#1', command('true')),
    )) as [string, string, string]
    await nodes.reaches(parent, 'running')
    const { status, json } = await kill(id)
    expect(status).toBe(200)
    expect(json).toEqual({ nodes: [{ id, state: 'killed' }] })
    expect(await nodes.states(parent, id, child)).toEqual(['running', 'killed', 'skipped'])
    const { data, metadata } = await nodes.get(id)
    expect([data.result, data.error, metadata.started_at]).toEqual([null, 'killed by admin', null])
    await kill(parent)
  })

  test('a running node is killing until nothing of it is left, grandchildren included', async () => {
    const { id, pids } = await running(
      'sleep 300 & echo $!; (sleep 300 & echo $!; setsid sleep 300 & echo $!; wait) & echo $!; wait',
      4,
    )
    const { json } = await kill(id)
    expect(json.nodes).toEqual([{ id, state: 'killing' }])
    expect(await nodes.ended(id)).toEqual(['killed'])
    for (const pid of pids) expect(isAlive(pid), `process ${pid}`).toBe(false)
    expect((await nodes.get(id)).data.result).toBeNull()
  })

  test('a node that does not heed TERM is killed when the grace is over', async () => {
    const { id, pids } = await running('trap "" TERM; echo $$; while :; do sleep 0.05; done', 1)
    const before = Date.now()
    await kill(id)
    expect(await nodes.ended(id)).toEqual(['killed'])
    expect(Date.now() - before).toBeGreaterThanOrEqual(900)
    expect(isAlive(pids[0] as number)).toBe(false)
  })

  test('a node that heeds TERM may end in order, and keeps its output', async () => {
    const { id } = await running('trap "echo bye; exit 0" TERM; echo $$; while :; do sleep 0.05; done', 1)
    await kill(id)
    expect(await nodes.ended(id)).toEqual(['killed'])
    expect((await nodes.get(id)).data.stdout).toMatch(/\nbye\n$/)
  })

  test('the signal that ended a node is in its data, when it was killed and when it took too long', async () => {
    const stubborn = 'trap "" TERM; echo $$; while :; do sleep 0.05; done'
    const [heeding, deaf] = await Promise.all([running('echo $$; exec sleep 300', 1), running(stubborn, 1)])
    await kill(heeding.id, deaf.id)
    await nodes.ended(heeding.id, deaf.id)
    expect((await nodes.get(heeding.id)).data).toMatchObject({
      result: null,
      error: 'killed by admin',
      signal: 'SIGTERM',
    })
    expect((await nodes.get(deaf.id)).data).toMatchObject({ result: null, signal: 'SIGKILL' })
    expect(await nodes.value(deaf.id, 'signal')).toBe('SIGKILL')
    const [late] = await nodes.run(below('root', shell('sleep 300'), { data: { timeout: 0.3 } }))
    expect(late.data).toMatchObject({ result: null, error: 'timed out after 0.3 s', signal: 'SIGTERM' })
    const [orderly] = await nodes.run(
      below('root', shell('trap "exit 0" TERM; while :; do sleep 0.05; done'), { data: { timeout: 0.3 } }),
    )
    expect(orderly.data).not.toHaveProperty('signal')
  })

  test('a node that has ended stays as it is', async () => {
    const [done, failed] = await nodes.run(command('true'), command('false'))
    const ids = [done.metadata.id, failed.metadata.id]
    expect((await kill(...ids)).json.nodes).toEqual([
      { id: ids[0], state: 'finished' },
      { id: ids[1], state: 'failed' },
    ])
  })

  test('when one is unknown none is killed', async () => {
    const [id] = (await nodes.add(sleeping(3600))) as [string]
    expect((await kill(id, '99999999')).json).toMatchObject({ status: 404, code: 'node_not_found' })
    expect((await kill('99999998', '99999999')).json.detail).toContain('99999998, 99999999')
    expect((await nodes.states(id))[0]).not.toBe('killed')
    for (const query of ['', '?id=', '?id=x', '?id=1&force=1', `?id=${'9'.repeat(19)}`])
      expect([400, 404]).toContain((await nodes.ask('PUT', `/v1/scheduler/kill${query}`)).status)
    await kill(id)
  })

  test('thousands of nodes are killed and awaited at once, by their ids in the body', async () => {
    const [first, ...rest] = await nodes.add(
      sleeping(3600),
      ...Array.from({ length: 4999 }, () => below('#0', sleeping(1))),
    )
    const ids = [first as string, ...rest]
    const wanted = ids.map((id) => ({ id, state: 'killed' }))
    const killing = await nodes.ask('PUT', '/v1/scheduler/kill', { body: { ids } })
    expect(killing.status, killing.text.slice(0, 500)).toBe(200)
    expect(killing.json.nodes).toHaveLength(5000)
    const awaited = await nodes.ask('POST', '/v1/scheduler/wait', { body: { ids } })
    expect([awaited.status, awaited.json]).toEqual([200, { nodes: wanted }])
    const { rows } = await nodes.server.database.pool.query("select 1 from millrace.audit where action like '%wait%'")
    expect(rows).toEqual([])
    for (const body of [{ ids: [] }, { ids: ['x'] }, { ids: ['9'.repeat(20)] }, { ids: Array(10_001).fill('1') }, {}]) {
      expect((await nodes.ask('PUT', '/v1/scheduler/kill', { body })).json.code).toBe('invalid')
      expect((await nodes.ask('POST', '/v1/scheduler/wait', { body })).json.code).toBe('invalid')
    }
    expect((await nodes.ask('PUT', `/v1/scheduler/kill?id=${first}`, { body: { ids } })).json.code).toBe('invalid')
    expect((await nodes.ask('POST', '/v1/scheduler/wait', { body: { ids: [first, '99999999'] } })).json.code).toBe(
      'node_not_found',
    )
  })

  test('killing twice is harmless', async () => {
    const { id } = await running('trap "" TERM; echo $$; while :; do sleep 0.05; done', 1)
    const replies = await Promise.all([kill(id), kill(id), kill(id)])
    for (const reply of replies) expect(reply.json.nodes[0].state).toBe('killing')
    expect(await nodes.ended(id)).toEqual(['killed'])
    expect((await kill(id)).json.nodes[0].state).toBe('killed')
  })

  test('a node on another server is killed as well', async () => {
    await using other = await aServer({ on: nodes.server.database, concurrency: 1, grace_seconds: 1 })
    const { id, pids } = await running('echo $$; sleep 300', 1)
    await other.ask('PUT', `/v1/scheduler/kill?id=${id}`)
    expect(await nodes.ended(id)).toEqual(['killed'])
    expect(isAlive(pids[0] as number)).toBe(false)
  })
})

describe('T8: waiting', () => {
  test('the answer comes when all have ended, with the state of each', async () => {
    const ids = await nodes.add(sleeping(0.2), command('false'), below('#1', command('true')), command('true'))
    const { status, json } = await wait(`id=${ids.join(',')}`)
    expect(status).toBe(200)
    const states = ['finished', 'failed', 'skipped', 'finished']
    expect(json).toEqual({ nodes: ids.map((id, i) => ({ id, state: states[i] })) })
    expect((await wait(`id=${ids.join(',')}`)).json).toEqual(json)
  })

  test('an unknown node is refused by name', async () => {
    const [id] = await nodes.add(sleeping(0))
    expect((await wait(`id=${id},99999999`)).json).toMatchObject({ status: 404, code: 'node_not_found' })
    expect((await wait('id=')).status).toBe(400)
    expect((await wait(`id=${id}&state=done`)).status).toBe(400)
  })

  test('with Prefer the answer comes in time, with what is known', async () => {
    const [id, done] = (await nodes.add(sleeping(3600), sleeping(0))) as [string, string]
    await nodes.reaches(id, 'running')
    await nodes.reaches(done, 'finished')
    const { status, json, headers } = await wait(`id=${id},${done}`, { prefer: 'wait=1' })
    expect(status).toBe(202)
    expect(json.nodes).toEqual([
      { id, state: 'running' },
      { id: done, state: 'finished' },
    ])
    expect(headers.get('preference-applied')).toBe('wait=1')
    await kill(id)
  })

  test('a state can be waited for', async () => {
    const [first, second] = (await nodes.add(sleeping(3600), below('#0', sleeping(3600)))) as [string, string]
    expect((await wait(`id=${second}&state=incipient`)).json.nodes).toEqual([{ id: second, state: 'incipient' }])
    expect((await wait(`id=${first}&state=running`)).json.nodes).toEqual([{ id: first, state: 'running' }])
    await kill(first)
    expect((await wait(`id=${second}&state=running`)).json.nodes).toEqual([{ id: second, state: 'skipped' }])
  })

  test('a state that was passed while another node was awaited counts', async () => {
    const [quick, slow] = (await nodes.add(command('true'), sleeping(0.6))) as [string, string]
    const last = (await nodes.add(below(slow, sleeping(3600))))[0] as string
    const { json } = await wait(`id=${quick},${last}&state=running`)
    expect(json.nodes).toEqual([
      { id: quick, state: 'finished' },
      { id: last, state: 'running' },
    ])
    const killed = await running('trap "" TERM; echo $$; while :; do sleep 0.05; done', 1)
    const awaited = wait(`id=${killed.id},${last}&state=killing`)
    await kill(killed.id, last)
    const before = await wait(`id=${killed.id}&state=running`, { prefer: 'wait=5' })
    expect(before.status).toBe(200)
    expect((await awaited).json.nodes.map((node: { state: string }) => node.state)).toEqual([
      expect.stringMatching(/^kill(ing|ed)$/),
      'killed',
    ])
  })

  test('many nodes are awaited at the cost of what happens', async () => {
    const ids = await nodes.add(...Array.from({ length: 200 }, () => sleeping(0.1)))
    expect(new Set(await nodes.ended(...ids))).toEqual(new Set(['finished']))
  })

  test('waiting goes on at another server when one was stopped', async () => {
    const [id] = (await nodes.add(sleeping(3600))) as [string]
    const other = await aServer({ on: nodes.server.database })
    const waiting = other.ask('GET', `/v1/scheduler/wait?id=${id}`)
    await other.ask('GET', '/v1/nodes?limit=1')
    await other.stop()
    expect((await waiting).json).toMatchObject({ status: 503, code: 'not_ready' })
    const again = nodes.ended(id)
    await kill(id)
    expect(await again).toEqual(['killed'])
  })
})
