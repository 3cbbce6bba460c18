import { describe, expect, test } from 'vitest'
import { below, command, shell, sleeping, useNodes } from '../../test/nodes.ts'

const nodes = useNodes()

const patch = (id: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
  nodes.ask('PATCH', `/v1/nodes/${id}`, { body, headers })
const remove = (id: string | undefined, query = '') => nodes.ask('DELETE', `/v1/nodes/${id}${query}`)
const kill = (...ids: (string | undefined)[]) => nodes.ask('PUT', `/v1/scheduler/kill?id=${ids.join(',')}`)

/** A node that runs until it is killed, and nodes below it that wait for its end. */
async function waiting(...items: Parameters<typeof nodes.add>): Promise<[gate: string, ...string[]]> {
  const ids = await nodes.add(sleeping(3600), ...items.map((item) => below('#0', item, { data: { run_if: 'always' } })))
  return ids as [string, ...string[]]
}

describe('T9: editing before the start', () => {
  test('the command of a node that waits can be changed, by PATCH and by PUT', async () => {
    const [gate, id] = await waiting(command('false'))
    const { status, json, headers } = await patch(id, { data: { command: 'echo', args: ['a'], own: 1 } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ metadata: { id, state: 'incipient' }, data: { command: 'echo', args: ['a'], own: 1 } })
    expect(headers.get('etag')).toBe((await nodes.ask('GET', `/v1/nodes/${id}`)).headers.get('etag'))
    await nodes.ask('PUT', `/v1/nodes/${id}/data/args`, { body: { value: ['b', 'c'] } })
    await kill(gate)
    await nodes.ended(id as string)
    expect((await nodes.get(id as string)).data).toMatchObject({ result: 0, stdout: 'b c\n', own: 1 })
  })

  test('null removes a key, and the type can be changed with what it needs', async () => {
    const [gate, id] = await waiting(below('root', command('echo', 'x'), { data: { own: 1, cwd: '/' } }))
    const { json } = await patch(id, {
      metadata: { type: 'shell command' },
      data: { args: null, own: null, cwd: null, command: 'echo $((1 + 1))' },
    })
    expect(json.data).toEqual({ command: 'echo $((1 + 1))', run_if: 'always' })
    await kill(gate)
    await nodes.ended(id as string)
    expect((await nodes.get(id as string)).data.stdout).toBe('2\n')
  })

  test('what would not make sense is refused, and nothing is changed', async () => {
    const [gate, id] = await waiting(command('true'))
    for (const [body, pointer] of [
      [{ data: { command: null } }, '/body/data'],
      [{ data: { args: 'x' } }, '/body/data/args'],
      [{ metadata: { type: 'sleep' } }, '/body/data'],
      [{ data: { result: 1 } }, '/body/data/result'],
      [{ metadata: { parent: '99999999' } }, '/body/metadata/parent'],
      [{ metadata: { state: 'finished' } }, '/body/metadata/state'],
      [{ data: { own: 'a\u0000' } }, '/body/data/own'],
    ] as const) {
      const { json } = await patch(id, body)
      expect(json, JSON.stringify(body)).toMatchObject({ status: 400, errors: [{ pointer }] })
    }
    const put = await nodes.ask('PUT', `/v1/nodes/${id}/data/args`, { body: { value: 7 } })
    expect(put.json).toMatchObject({ status: 400 })
    expect((await nodes.get(id as string)).data).toEqual({ command: 'true', run_if: 'always' })
    await kill(gate)
  })

  test('a node that runs or has ended keeps its form', async () => {
    const [runs] = await nodes.add(shell('sleep 300'))
    await nodes.reaches(runs as string, 'running')
    const [sleeps] = await nodes.add(sleeping(3600))
    await nodes.reaches(sleeps as string, 'running')
    const [done] = await nodes.run(command('true'))
    for (const id of [runs, sleeps, done.metadata.id]) {
      expect((await patch(id, { data: { command: 'x' } })).json).toMatchObject({
        status: 409,
        code: 'node_state_refused',
      })
      expect((await patch(id, { metadata: { parent: 'root' } })).json).toMatchObject({ status: 409 })
    }
    await kill(runs, sleeps)
    expect((await patch('99999999', {})).json).toMatchObject({ status: 404 })
  })

  test('If-Match keeps one who has not seen the last form from overwriting it', async () => {
    const [gate, id] = await waiting(command('true'))
    const etag = (await nodes.ask('GET', `/v1/nodes/${id}`)).headers.get('etag') as string
    expect((await patch(id, { data: { a: 1 } }, { 'if-match': etag })).status).toBe(200)
    expect((await patch(id, { data: { a: 2 } }, { 'if-match': etag })).json).toMatchObject({ status: 412 })
    const removal = await nodes.ask('DELETE', `/v1/nodes/${id}`, { headers: { 'if-match': etag } })
    expect(removal.json).toMatchObject({ status: 412, code: 'precondition_failed' })
    expect((await nodes.get(id as string)).data.a).toBe(1)
    await kill(gate)
  })

  test('a node that starts meanwhile runs in its old or in its new form, and the answer says which', async () => {
    const [...ids] = await nodes.add(...Array.from({ length: 40 }, () => command('echo', 'old')))
    const replies = await Promise.all(ids.map((id) => patch(id, { data: { args: ['new'] } })))
    await nodes.ended(...ids)
    const said = await Promise.all(ids.map(async (id) => (await nodes.get(id)).data.stdout))
    expect(said).toEqual(replies.map((reply) => (reply.status === 200 ? 'new\n' : 'old\n')))
    expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true)
  })
})

describe('T9: moving', () => {
  test('a moved node waits for its new parent and no longer for the old one', async () => {
    const [first, second, id, child] = await nodes.add(
      sleeping(3600),
      sleeping(3600),
      below('#0', command('true'), { data: { run_if: 'always' } }),
      below('#2', command('true')),
    )
    const { json } = await patch(id, { metadata: { parent: second } })
    expect(json.metadata).toMatchObject({ parent: second, state: 'incipient' })
    await kill(first)
    expect(await nodes.states(id as string, child as string)).toEqual(['incipient', 'incipient'])
    await kill(second)
    expect(await nodes.ended(id as string, child as string)).toEqual(['finished', 'finished'])
  })

  test('a node moved to the root starts', async () => {
    const [gate, id] = await waiting(command('true'))
    await patch(id, { metadata: { parent: 'root' } })
    expect(await nodes.ended(id as string)).toEqual(['finished'])
    await kill(gate)
  })

  test('what it waits for of its parent can be changed, by either name', async () => {
    const [gate, one, two] = await nodes.add(sleeping(3600), below('#0', command('true')), below('#0', command('true')))
    await patch(one, { metadata: { run_if: 'always' } })
    await nodes.ask('PUT', `/v1/nodes/${two}/data/run_if`, { body: { value: 'failure' } })
    await kill(gate)
    expect(await nodes.ended(one as string, two as string)).toEqual(['finished', 'skipped'])
    expect((await nodes.get(two as string)).metadata.run_if).toBe('failure')
  })

  test('a node moved below one that has ended is decided at once', async () => {
    const [failed] = await nodes.run(command('false'))
    const [gate, id] = await nodes.add(sleeping(3600), below('#0', command('true')))
    await patch(id, { metadata: { parent: failed.metadata.id } })
    expect(await nodes.ended(id as string)).toEqual(['skipped'])
    const [chosen] = await nodes.run({ metadata: { type: 'if', parent: 'root' }, data: { command: 'true' } })
    const [other] = await nodes.add(below(gate as string, command('true'), { data: { branch: 'else' } }))
    await patch(other, { metadata: { parent: chosen.metadata.id } })
    expect(await nodes.ended(other as string)).toEqual(['skipped'])
    await kill(gate)
  })

  test('a node cannot be moved below itself', async () => {
    const [gate, id, child, grandchild] = await nodes.add(
      sleeping(3600),
      below('#0', command('true')),
      below('#1', command('true')),
      below('#2', command('true')),
    )
    for (const parent of [id, child, grandchild])
      expect((await patch(id, { metadata: { parent } })).json).toMatchObject({ status: 409, code: 'node_cycle' })
    expect((await nodes.get(id as string)).metadata.parent).toBe(gate)
    await kill(gate)
    await nodes.ended(id as string, grandchild as string)
  })

  test('two moves that would close a cycle together do not both succeed', async () => {
    const [gate, a, b] = await waiting(command('true'), command('true'))
    for (let round = 0; round < 5; round += 1) {
      await patch(a, { metadata: { parent: gate } })
      await patch(b, { metadata: { parent: gate } })
      const replies = await Promise.all([patch(a, { metadata: { parent: b } }), patch(b, { metadata: { parent: a } })])
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 409]))
    }
    await kill(gate)
  })
})

describe('T9: removing', () => {
  test('a node that has not started is gone, with its data, and never starts', async () => {
    const [gate, id] = await waiting(command('true'))
    const { task } = (await nodes.get(id as string)).metadata
    expect((await remove(id)).json).toEqual({ removed: 1 })
    expect((await nodes.ask('GET', `/v1/nodes/${id}`)).status).toBe(404)
    expect((await nodes.ask('GET', `/v1/nodes/${id}/data`)).status).toBe(404)
    const { json } = await nodes.ask('GET', `/v1/tasks/${task}`)
    expect(json).toMatchObject({ state: 'canceled', cause: 'the node was removed' })
    await kill(gate)
  })

  test('a node with children needs chain=true, and then all below goes', async () => {
    const [gate, id, child, leaf] = await nodes.add(
      sleeping(3600),
      below('#0', command('true')),
      below('#1', command('true')),
      below('#2', command('true')),
    )
    expect((await remove(id)).json).toMatchObject({ status: 409, code: 'node_has_children' })
    expect((await remove(id, '?chain=true')).json).toEqual({ removed: 3 })
    for (const gone of [id, child, leaf]) expect((await nodes.ask('GET', `/v1/nodes/${gone}`)).status).toBe(404)
    await kill(gate)
    expect((await remove(gate)).json).toEqual({ removed: 1 })
  })

  test('what runs is not removed, and neither is what it hangs below', async () => {
    const [parent, child] = await nodes.add(sleeping(0), below('#0', shell('sleep 300')))
    await nodes.reaches(child as string, 'running')
    const refused = await remove(parent, '?chain=true')
    expect(refused.json).toMatchObject({ status: 409, code: 'node_state_refused' })
    expect(refused.json.detail).toContain(child)
    expect((await remove(child)).status).toBe(409)
    await kill(child)
    await nodes.ended(child as string)
    expect((await remove(parent, '?chain=true')).json).toEqual({ removed: 2 })
  })

  test('what has ended can be removed; its task stays in the history', async () => {
    const [node] = await nodes.run(command('echo', 'x'))
    expect((await remove(node.metadata.id)).json).toEqual({ removed: 1 })
    expect((await nodes.ask('GET', `/v1/tasks/${node.metadata.task}`)).json.state).toBe('succeeded')
    expect((await remove(node.metadata.id)).status).toBe(404)
  })

  test('nothing hangs below a node that was removed', async () => {
    const [gate, id] = await waiting(command('true'))
    await remove(id)
    const added = await nodes.ask('POST', '/v1/nodes', { body: [below(id as string, command('true'))] })
    expect(added.json).toMatchObject({ status: 400, errors: [{ pointer: '/body/0/metadata/parent' }] })
    await kill(gate)
  })

  test('removing and starting at the same time leave no running node without a row', async () => {
    const ids = await nodes.add(...Array.from({ length: 30 }, () => command('true')))
    const replies = await Promise.all(ids.map((id) => remove(id)))
    const kept = ids.filter((_, i) => replies[i]?.status === 409)
    expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true)
    if (kept.length > 0) expect(new Set(await nodes.ended(...kept))).toEqual(new Set(['finished']))
  })
})
