import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { anApp } from '../../test/app.ts'
import { database, type TestDatabase } from '../../test/database.ts'
import { deferred } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { ADMIN, type TestServer } from '../../test/server.ts'
import { aGraph, type TaskGraph, useTaskServer } from '../../test/task-server.ts'
import { createOutputWriter, followOutput, readOutput } from '../storage/index.ts'
import { addTaskLog, type FollowersOptions, type Outputs } from './task-log.ts'

const server = useTaskServer()

/** A node that runs a script; answers the id of its task once the node has the wanted state. */
async function aCommand(server: TestServer, script: string): Promise<{ node: string; task: string }> {
  const added = await server.ask('POST', '/v1/nodes', {
    body: [{ metadata: { type: 'shell command', parent: 'root' }, data: { command: script } }],
  })
  const node = String(added.json[0].id ?? added.json[0].metadata.id)
  const { rows } = await server.database.pool.query('select task from millrace.node where id = $1', [node])
  return { node, task: String(rows[0].task) }
}

const ended = (server: TestServer, node: string) => server.ask('GET', `/v1/scheduler/wait?id=${node}`)

test('the output of a task is read whole, by stream and in parts', async () => {
  const { node, task } = await aCommand(server, 'echo one; echo two >&2; echo three')
  await ended(server, node)
  const whole = await server.ask('GET', `/v1/tasks/${task}/log`)
  expect(whole.text).toBe('one\ntwo\nthree\n')
  expect(whole.headers.get('x-complete')).toBe('true')
  expect((await server.ask('GET', `/v1/tasks/${task}/log?stream=stdout`)).text).toBe('one\nthree\n')
  expect((await server.ask('GET', `/v1/tasks/${task}/log?stream=stderr`)).text).toBe('two\n')
  const part = await server.ask('GET', `/v1/tasks/${task}/log?start=4&limit=4`)
  expect(part.text).toBe('two\n')
  expect(part.headers.get('x-next-start')).toBe('8')
  expect(part.headers.get('x-complete')).toBe('false')
})

test('the output of a running task is followed until it ends', async () => {
  const { task } = await aCommand(
    server,
    'echo begun; until [ -e "$TMPDIR/go" -o -e go ]; do sleep 0.05; done; echo done',
  )
  const response = await fetch(`${server.url}/v1/tasks/${task}/log?follow=1`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const first = await reader.read()
  expect(Buffer.from(first.value ?? []).toString()).toBe('begun\n')
  const { json } = await server.ask('GET', `/v1/tasks/${task}`)
  expect(json.state).toBe('running')
  await server.ask('POST', `/v1/tasks/${task}/cancel`)
  const rest = await reader.read()
  expect(rest.done).toBe(true)
})

test('a task that has printed nothing has an empty log that is not complete before it ends', async () => {
  const { node, task } = await aCommand(server, 'sleep 1000')
  const during = await server.ask('GET', `/v1/tasks/${task}/log`)
  expect([during.text, during.headers.get('x-complete')]).toEqual(['', 'false'])
  await server.ask('PUT', `/v1/scheduler/kill?id=${node}`)
  await ended(server, node)
  const after = await server.ask('GET', `/v1/tasks/${task}/log`)
  expect([after.text, after.headers.get('x-complete')]).toEqual(['', 'true'])
})

test('an attempt that there was not is not found', async () => {
  const { node, task } = await aCommand(server, 'true')
  await ended(server, node)
  expect((await server.ask('GET', `/v1/tasks/${task}/log?attempt=7`)).json).toMatchObject({ code: 'not_found' })
})

test('the log of a task that ended without having begun is complete', async () => {
  const task = await server.add()
  const during = await server.ask('GET', `/v1/tasks/${task}/log`)
  expect([during.text, during.headers.get('x-complete')]).toEqual(['', 'false'])
  await server.ask('POST', `/v1/tasks/${task}/cancel`)
  const after = await server.ask('GET', `/v1/tasks/${task}/log`)
  expect([after.text, after.headers.get('x-complete')]).toEqual(['', 'true'])
})

test('who follows a task that does not begin costs the same however long it waits', async () => {
  const task = await server.add()
  const signals = new Map<AbortSignal, number>()
  const add = vi.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (
    this: AbortSignal,
    ...given
  ) {
    signals.set(this, (signals.get(this) ?? 0) + 1)
    return EventTarget.prototype.addEventListener.apply(this, given as Parameters<EventTarget['addEventListener']>)
  })
  onTestFinished(() => add.mockRestore())
  const gone = new AbortController()
  const following = server.ask('GET', `/v1/tasks/${task}/log?follow=1`, { signal: gone.signal })
  following.catch(() => {})
  await waitFor(() => ([...signals.values()].some((count) => count >= 4) ? true : undefined))
  for (const signal of signals.keys()) expect(getEventListeners(signal, 'abort').length).toBeLessThan(4)
  gone.abort()
  await expect(following).rejects.toThrow()
})

test('of a task with any number of attempts the last ones are shown, and each has its log', async () => {
  const task = await server.add()
  await server.perform()
  await server.database.pool.query(
    `insert into millrace.attempt (task, epoch, outcome, next, ready_at, started_at, ended_at)
     select $1, -i, 'later', 'delayed', now(), now(), now() from generate_series(1, 250) i`,
    [task],
  )
  const { json } = await server.ask('GET', `/v1/tasks/${task}`)
  expect(json.attempts.length).toBe(100)
  expect(json.attempts.at(-1)).toMatchObject({ number: 251, outcome: 'succeeded' })
  expect((await server.millrace.attempts(task)).map(({ number }) => number)).toEqual(
    Array.from({ length: 251 }, (_, i) => i + 1),
  )
  for (const number of [1, 200, 251]) {
    const log = await server.ask('GET', `/v1/tasks/${task}/log?attempt=${number}`)
    expect([log.headers.get('x-attempt'), log.headers.get('x-complete')]).toEqual([String(number), 'true'])
  }
})

/** A task that runs and has printed something. */
async function aPrinting(graph: TaskGraph, { pool }: TestDatabase): ReturnType<TaskGraph['runOne']> {
  const running = await graph.runOne()
  const [attempt] = await graph.millrace.attempts(running.task)
  const writer = createOutputWriter({ pool, task: running.task, attempt: attempt?.epoch ?? 0 })
  void writer.write('stdout', Buffer.from('up\n'))
  await writer.close()
  return running
}

type LogServerOptions = FollowersOptions & {
  readonly onGone?: () => void
}

async function aLogServer({ onGone, ...options }: LogServerOptions) {
  const db = await database()
  const graph = await aGraph(db.databaseUrl)
  const outputs: Outputs = {
    read: (of) => readOutput(db.pool, of),
    follow: (of) => followOutput(db.pool, of),
  }
  const app = await anApp({
    on: db,
    resources: [
      (on) =>
        on.addHook('onRequest', async ({ url }, reply) => {
          if (url.includes('follow=1')) reply.raw.once('close', () => onGone?.())
        }),
      (on) => addTaskLog(on, graph.millrace, outputs, options),
    ],
  })
  const { task, end } = await aPrinting(graph, db)
  const follow = (token = ADMIN, signal?: AbortSignal, of = task) =>
    fetch(`${app.url}/v1/tasks/${of}/log?follow=1`, {
      headers: { authorization: `Bearer ${token}` },
      ...(signal === undefined ? {} : { signal }),
    })
  return {
    app,
    follow,
    pool: db.pool,
    add: () => graph.add(),
    async [Symbol.asyncDispose]() {
      await end()
      await app[Symbol.asyncDispose]()
      await graph.close()
      await db[Symbol.asyncDispose]()
    },
  }
}

test('a revoked token follows no longer', async () => {
  await using server = await aLogServer({ checkMs: 50 })
  const { json } = await server.app.ask('POST', '/v1/tokens', { body: { name: 'reader', role: 'viewer' } })
  const response = await server.follow(json.secret)
  const whole = response.text()
  await server.app.ask('DELETE', `/v1/tokens/${json.id}`)
  expect(await whole).toBe('up\n')
})

test('more who follow logs than a server bears are asked to come later', async () => {
  await using server = await aLogServer({ most: 2 })
  const gone = new AbortController()
  const replies = await Promise.all(Array.from({ length: 3 }, () => server.follow(ADMIN, gone.signal)))
  expect(replies.filter(({ status }) => status === 200).length).toBe(2)
  expect(replies.filter(({ status }) => status === 503).length).toBe(1)
  gone.abort()
  await waitFor(async () => {
    const again = new AbortController()
    const { status } = await server.follow(ADMIN, again.signal)
    again.abort()
    return status === 200 ? true : undefined
  })
})

test('who leaves before the task is found takes no place', async () => {
  const gone = deferred()
  await using server = await aLogServer({ most: 1, onGone: gone.resolve })
  const task = await server.add()
  const waiting = async () => {
    const { rows } = await server.pool.query(
      `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows[0].count as number
  }
  const lock = await server.pool.connect()
  await lock.query('begin')
  await lock.query('lock table millrace.attempt in access exclusive mode')
  const caller = new AbortController()
  server.follow(ADMIN, caller.signal, task).catch(() => {})
  await expect.poll(waiting).toBe(1)
  caller.abort()
  await gone.promise
  await lock.query('rollback')
  lock.release()
  await expect.poll(waiting).toBe(0)
  // Whoever took a place for a caller who is gone would never give it back.
  for (let n = 0; n < 5; n += 1) {
    const next = new AbortController()
    // The one before may not have been missed yet.
    await expect.poll(async () => (await server.follow(ADMIN, next.signal)).status).toBe(200)
    next.abort()
  }
})
