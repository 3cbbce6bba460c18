import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { below, command, sleeping, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'
import { aServer } from '../../test/server.ts'

const nodes = useNodes()

const idsOf = (rows: readonly { id: string }[]) => rows.map((row) => row.id)
const list = async (query: string) => (await nodes.ask('GET', `/v1/nodes?${query}`)).json

describe('T3: listing nodes', () => {
  test('the answer is a bare array with the metadata of each node', async () => {
    const [id] = await nodes.add(sleeping(0))
    await nodes.ended(id as string)
    const { status, json } = await nodes.ask('GET', '/v1/nodes')
    expect(status).toBe(200)
    const row = json.find((node: { id: string }) => node.id === id)
    expect(Object.keys(row).sort()).toEqual([
      'branch',
      'created_at',
      'finished_at',
      'id',
      'parent',
      'run_if',
      'started_at',
      'state',
      'task',
      'type',
    ])
    expect(row).toMatchObject({ type: 'sleep', parent: 'root', state: 'finished', run_if: 'success' })
  })

  test('metadata chooses what is told beside the id', async () => {
    const [id] = await nodes.add(sleeping(0))
    expect((await list('metadata=type,parent')).at(-1)).toEqual({ id, type: 'sleep', parent: 'root' })
    expect((await list('metadata=id')).at(-1)).toEqual({ id })
  })

  test('summary, result and children are told when they are asked for', async () => {
    const [top, , , lasting] = await nodes.add(
      command('sh', '-c', 'exit 3'),
      below('#0', { metadata: { type: 'shell command' }, data: { command: `echo one\n${'x'.repeat(300)}` } }),
      below('#0', command('true'), { data: { args: Array.from({ length: 500 }, () => randomUUID()) } }),
      sleeping(3600),
    )
    await nodes.ended(top as string)
    const told = await list(`parent=root&metadata=summary,result,children`)
    const of = (id: string | undefined) => told.find((row: { id: string }) => row.id === id)
    expect(of(top)).toEqual({ id: top, summary: "sh -c 'exit 3'", result: 3, children: 2 })
    expect(of(lasting)).toEqual({ id: lasting, summary: 'for 3600 s', result: null, children: 0 })
    const [script, long] = await list(`parent=${top}&metadata=summary`)
    expect(script.summary).toBe(`echo one ${'x'.repeat(190)}…`)
    expect(long.summary).toBe('true …')
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${lasting}`)
    await nodes.ended(lasting as string)
  })

  test('up walks from a node to the top, down walks level by level, no further than the limit', async () => {
    const chain = await nodes.add(
      sleeping(0),
      below('#0', sleeping(3600)),
      below('#1', sleeping(0)),
      below('#0', sleeping(0)),
      below('#2', sleeping(0)),
    )
    const [top, second, third, other, last] = chain as [string, string, string, string, string]
    expect(idsOf(await list(`up=${last}`))).toEqual([last, third, second, top])
    expect(idsOf(await list(`up=${last}&limit=2&metadata=state`))).toEqual([last, third])
    expect(idsOf(await list(`up=${top}`))).toEqual([top])
    expect(idsOf(await list(`down=${top}`))).toEqual([top, second, other, third, last])
    expect(idsOf(await list(`down=${top}&limit=3`))).toEqual([top, second, other])
    expect(idsOf(await list(`down=${last}`))).toEqual([last])
    expect(await list('down=999999999')).toEqual([])
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${second}`)
    await nodes.ended(second)
  })

  test('the newest first, page by page, with each of the filters', async () => {
    const [top, ...children] = await nodes.add(sleeping(3600), ...[1, 2, 3, 4, 5].map(() => below('#0', sleeping(0))))
    const newest = [...children].reverse()
    const first = await list(`parent=${top}&order=newest&limit=2`)
    expect(idsOf(first.nodes)).toEqual(newest.slice(0, 2))
    const { next, pid } = first.pagination
    expect(idsOf(await list(`parent=${top}&order=newest&limit=5&start=${next}&pid=${pid}`))).toEqual(newest.slice(2))
    expect((await list(`parent=${top}&start=${next}&pid=${pid}`)).code).toBe('gone')
    expect(idsOf(await list('order=newest&limit=1').then((page) => page.nodes))).toEqual(newest.slice(0, 1))
    expect(idsOf(await list('parent=root&order=newest').then((all) => all.slice(0, 1)))).toEqual([top])
    const unfinished = await list('state=incipient&order=newest')
    expect(idsOf(unfinished.slice(0, 5))).toEqual(newest)
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${top}`)
    await nodes.ended(...children)
  })

  test('type, state and parent filter exactly', async () => {
    const [sleeper, failed, child] = await nodes.add(
      sleeping(3600),
      command('false'),
      below('#1', command('true'), { data: { run_if: 'failure' } }),
    )
    await nodes.ended(failed as string, child as string)
    await nodes.reaches(sleeper as string, 'running')
    const has = async (query: string, id: string | undefined) => idsOf(await list(query)).includes(id as string)
    expect(await has('type=sleep', sleeper)).toBe(true)
    expect(await has('type=sleep', failed)).toBe(false)
    expect(await has('type=command,sleep', failed)).toBe(true)
    expect(await has('state=failed', failed)).toBe(true)
    expect(await has('state=failed', child)).toBe(false)
    expect(await has('state=failed,finished', child)).toBe(true)
    expect(idsOf(await list('state=running'))).toEqual([sleeper])
    expect(await list('state=killing')).toEqual([])
    expect(await has('type=command&state=running', sleeper)).toBe(false)
    expect(idsOf(await list(`parent=${failed}`))).toEqual([child])
    expect(await has('parent=root', failed)).toBe(true)
    expect(await has('parent=root', child)).toBe(false)
    expect(await list(`parent=${sleeper}&state=failed`)).toEqual([])
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${sleeper}`)
  })

  test.each([
    ['colour=red', '/query/colour'],
    ['type=magic', '/query/type/0'],
    ['state=done', '/query/state/0'],
    ['state=running,,', '/query/state/1'],
    ['metadata=type,colour', '/query/metadata/1'],
    ['new=abc', '/query/new'],
    ['new=-1', '/query/new'],
    [`new=${'9'.repeat(19)}`, '/query/new'],
    [`new=${'9'.repeat(20)}`, '/query/new'],
    ['new=9223372036854775808', '/query/new'],
    [`start=${'9'.repeat(19)}&pid=x`, '/query/start'],
    ['start=0&pid=x', '/query/start'],
    [`up=${'9'.repeat(20)}`, '/query/up'],
    [`down=${'9'.repeat(19)}`, '/query/down'],
    ['limit=0', '/query/limit'],
    ['limit=99999', '/query/limit'],
    ['parent=here', '/query/parent'],
    [`parent=${'9'.repeat(19)}`, '/query/parent'],
    ['start=5', '/query/pid'],
    ['status=running', '/query/status'],
    ['up=1&parent=root', '/query/parent'],
    ['down=1&state=running', '/query/state'],
    ['up=1&down=1', '/query/down'],
    ['order=newest&new=0', '/query/new'],
  ])('?%s is refused, naming it', async (query, pointer) => {
    const { json } = await nodes.ask('GET', `/v1/nodes?${query}`)
    expect(json).toMatchObject({ status: 400, code: 'invalid' })
    expect(json.errors[0].pointer).toBe(pointer)
  })

  test('what does not fit a page comes with where to go on, and a link', async () => {
    const added = await nodes.add(...Array.from({ length: 5 }, () => sleeping(0)))
    const before = String(Number(added[0]) - 1)
    const first = await nodes.ask('GET', `/v1/nodes?new=${before}&limit=2&metadata=id`)
    expect(idsOf(first.json.nodes)).toEqual(added.slice(0, 2))
    const { next, pid } = first.json.pagination
    const second = await nodes.ask('GET', `/v1/nodes?new=${before}&limit=2&start=${next}&pid=${pid}`)
    expect(idsOf(second.json.nodes)).toEqual(added.slice(2, 4))
    const link = /^<([^>]+)>; rel="next"$/.exec(second.headers.get('link') ?? '')?.[1] as string
    const last = await nodes.ask('GET', link)
    expect(idsOf(last.json)).toEqual(added.slice(4))
    expect(last.headers.get('link')).toBeNull()
  })

  test('pagid is taken for pid, and a pid of another list is gone', async () => {
    await nodes.add(sleeping(0), sleeping(0))
    const { pagination } = (await nodes.ask('GET', '/v1/nodes?limit=1&type=sleep')).json
    const at = `start=${pagination.next}`
    const same = await nodes.ask('GET', `/v1/nodes?limit=1&type=sleep&${at}&pagid=${pagination.pid}`)
    expect(same.status).toBe(200)
    const other = await nodes.ask('GET', `/v1/nodes?limit=1&type=if&${at}&pid=${pagination.pid}`)
    expect(other.json).toMatchObject({ status: 410, code: 'gone' })
    const broken = await nodes.ask('GET', `/v1/nodes?type=sleep&start=x&pid=${pagination.pid}`)
    expect(broken.json).toMatchObject({ status: 400, errors: [{ pointer: '/query/start' }] })
  })
})

describe('T4: waiting for new nodes', () => {
  const newest = async () => (await nodes.add(sleeping(0)))[0] as string

  test('newer nodes are answered at once', async () => {
    const before = await newest()
    const added = await nodes.add(sleeping(0), sleeping(0))
    expect(idsOf(await list(`new=${before}`))).toEqual(added)
    expect((await list('new=0')).length).toBeGreaterThan(2)
  })

  test('a caller waits until a node is added, also by another server', async () => {
    await using other = await aServer({ on: nodes.server.database })
    const before = await newest()
    const waiting = nodes.ask('GET', `/v1/nodes?new=${before}&metadata=type`)
    const added = await other.ask('POST', '/v1/nodes', { body: [sleeping(0)] })
    const { status, json } = await waiting
    expect(status).toBe(200)
    expect(json).toEqual([{ id: added.json[0].metadata.id, type: 'sleep' }])
  })

  test('a caller with a filter waits for a node that fits', async () => {
    const before = await newest()
    const waiting = list(`new=${before}&type=command`)
    await nodes.add(sleeping(0))
    const [fitting] = await nodes.add(command('true'))
    expect(idsOf(await waiting)).toEqual([fitting])
  })

  test('a caller that asks for a state is told when a newer node comes to it', async () => {
    const before = await newest()
    const waiting = list(`new=${before}&state=failed`)
    const [, failed] = await nodes.add(sleeping(0), command('false'))
    expect(idsOf(await waiting)).toEqual([failed])
  })

  test('when the time is over without a node the answer is empty', async () => {
    const before = await newest()
    const { status, json } = await nodes.ask('GET', `/v1/nodes?new=${before}`, { headers: { prefer: 'wait=1' } })
    expect([status, json]).toEqual([200, []])
  })

  test('a hundred callers that wait ask the database no more often than one', async () => {
    const before = await newest()
    const end = new AbortController()
    const waiting = Array.from({ length: 100 }, () =>
      nodes.ask('GET', `/v1/nodes?new=${before}`, { signal: end.signal }).then(({ json }) => idsOf(json)),
    )
    const statements = async () => {
      const { rows } = await nodes.server.database.pool.query(
        'select xact_commit::int as count from pg_stat_database where datname = current_database()',
      )
      return rows[0].count as number
    }
    // The counters of the server are told late: wait until they stand still but for the hub's own looks.
    let last = await statements()
    const calm = await waitFor(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      const now = await statements()
      const grown = now - last
      last = now
      return grown > 0 && grown < 60 ? grown : undefined
    })
    expect(calm).toBeLessThan(60)
    const [added] = await nodes.add(sleeping(0))
    expect(new Set((await Promise.all(waiting)).flat())).toEqual(new Set([added]))
  })

  test('a stop of the server ends the waiting with an answer', async () => {
    await using other = await aServer({ on: nodes.server.database, drain_seconds: 20 })
    const [before] = await nodes.add(sleeping(3600))
    const waiting = other.ask('GET', `/v1/nodes?new=${before}`)
    const awaited = other.ask('GET', `/v1/scheduler/wait?id=${before}`)
    await other.ask('GET', '/v1/nodes?limit=1')
    await other.stop()
    expect((await waiting).json).toEqual([])
    expect((await awaited).json).toMatchObject({ status: 503, code: 'not_ready' })
  })
})

test('no node is skipped by a reader when a later one commits first', async () => {
  const { pool } = nodes.server.database
  const [before] = await nodes.add(sleeping(0))
  // Whoever adds holds the lock on the ids until its end: the second waits for the first.
  const slow = await pool.connect()
  try {
    await slow.query('begin')
    await slow.query('select pg_advisory_xact_lock(7420004)')
    const adding = nodes.add(sleeping(0))
    await waitFor(async () => {
      const { rows } = await pool.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)
      return rows.length > 0 ? true : undefined
    })
    expect(await list(`new=${before}&start=${before}&pid=x`)).toMatchObject({ status: 410 })
    await slow.query('commit')
    expect(idsOf(await list(`new=${before}`))).toEqual(await adding)
  } finally {
    slow.release()
  }
})

test('readers that follow by new see every node in order while many add at once', async () => {
  const seen: string[] = []
  let last = (await nodes.add(sleeping(0)))[0] as string
  const adding = Promise.all(
    Array.from({ length: 8 }, async () => {
      const ids: string[] = []
      for (let i = 0; i < 10; i += 1) ids.push(...(await nodes.add(sleeping(0), sleeping(0))))
      return ids
    }),
  )
  while (seen.length < 160) {
    const page = await list(`new=${last}&metadata=id`)
    seen.push(...idsOf(page))
    last = seen.at(-1) ?? last
  }
  const added = (await adding).flat().sort((a, b) => Number(a) - Number(b))
  expect(seen).toEqual(added)
})
