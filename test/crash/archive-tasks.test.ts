// Servers that perform tasks of archives and die: in a process of their own, by a signal that they do not hear.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IMAGE, useContainers } from '../containers.ts'
import { database, type TestDatabase } from '../database.ts'
import { isAlive, waitFor } from '../processes.ts'
import type { Program } from '../program.ts'
import type { Ground, Plain } from '../repositories/ground.ts'
import { write } from '../repositories/kit.ts'
import { svnFiles } from '../repositories/svn.ts'
import { scratch } from '../scratch.ts'
import { asker } from '../server.ts'
import { startServer } from './server-process.ts'

const containers = useContainers()

let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

type Place = { readonly db: TestDatabase; readonly path: string }

async function start({ db, path }: Place, data = 'data') {
  const at = { databaseUrl: db.databaseUrl, data: join(path, data) }
  const { program, url } = await startServer(at, containers.environment())
  return { program, ask: await asker(url) }
}

type Server = Awaited<ReturnType<typeof start>>

/** Kills the server in the hardest way, and lets its lease be over at once. */
async function killHard(program: Program, { db }: Place): Promise<void> {
  program.child.kill('SIGKILL')
  await program.exitCode
  await db.pool.query(
    `update millrace.dispatcher set lease_seconds = 1, expires_at = clock_timestamp() - interval '1 s' where process = $1`,
    [program.pid],
  )
}

async function anArchive({ ask }: Server, workflow: string): Promise<Plain> {
  const plain = await ground.create()
  await plain.commit((copy) => write(join(copy, '_workflows/a.yaml'), workflow), 'first')
  const body = { source: { type: 'svn', url: plain.options.url }, from: 1 }
  expect((await ask('PUT', '/v1/archives/Project', { body })).status).toBe(201)
  // 200 where the server has found the revision by itself already.
  expect([200, 202]).toContain((await ask('POST', '/v1/archives/Project/commits', { body: { rev: 1 } })).status)
  return plain
}

const ended = ({ ask }: Server, key: string) =>
  waitFor(async () => {
    const { json } = await ask('GET', `/v1/tasks/${encodeURIComponent(`Project@${key}`)}`)
    return ['succeeded', 'failed', 'canceled'].includes(json.state) ? json : undefined
  })

describe('A9', () => {
  test('a task whose server was killed runs again, commits once, and nothing of the first is left', async () => {
    await using db = await database()
    const place = { db, path: (await scratch()).path }
    const [pids, gate] = [join(place.path, 'pids'), join(place.path, 'gate')]
    const first = await start(place)
    const plain = await anArchive(
      first,
      `
- name: make
  artifacts: made
  script: |
    echo made > made
    millrace commit -m "made by a task [skip millrace]"
    echo $$ >> ${pids}
    while [ ! -e ${gate} ]; do sleep 0.05; done
`,
    )
    const pid = await waitFor(() =>
      existsSync(pids) ? Number(readFileSync(pids, 'utf8').trim()) || undefined : undefined,
    )
    const sockets = readdirSync(tmpdir()).filter((name) => name.includes(`.${first.program.pid}.`))
    const rooms = readdirSync(join(place.path, 'data', 'scratch')).filter((name) => name.startsWith('task-'))
    expect([sockets, rooms]).toEqual([expect.arrayContaining([expect.any(String)]), [expect.any(String)]])
    await killHard(first.program, place)
    await waitFor(() => (isAlive(pid) ? undefined : true))
    writeFileSync(gate, '')
    const second = await start(place)
    const task = await ended(second, '1:make')
    const { text: log } = await second.ask('GET', `/v1/tasks/${task.id}/log`)
    expect(task.state, log).toBe('succeeded')
    expect(task.attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['lease_lost', 'succeeded'])
    expect(log).toContain('was committed before as r2\n')
    expect(task.output).toEqual({ exit_code: 0, artifacts: 1, commits: [2] })
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(2)
    const left = [
      ...sockets.map((name) => join(tmpdir(), name)),
      ...rooms.map((name) => join(place.path, 'data', 'scratch', name)),
    ]
    await waitFor(() => (left.some(existsSync) ? undefined : true))
    await plain.commit((copy) => write(join(copy, 'b')), 'after')
    expect((await second.ask('POST', '/v1/archives/Project/commits', { body: { rev: 3 } })).status).toBeLessThan(300)
    const revision = await waitFor(async () => {
      const { status, json } = await second.ask('GET', '/v1/archives/Project/revisions/3')
      return status === 200 ? json : undefined
    })
    expect(revision.number).toBe(3)
    expect((await second.ask('GET', '/v1/archives/Project/revisions/2')).json.cause).toMatch(
      /^Project@1:make .*attempt=1 depth=1$/,
    )
  })

  test('two servers on one database perform each task once', async () => {
    await using db = await database()
    const place = { db, path: (await scratch()).path }
    const ran = join(place.path, 'ran')
    const [one] = await Promise.all([start(place, 'one'), start(place, 'two')])
    const names = Array.from({ length: 24 }, (_, i) => `task-${i}`)
    await anArchive(one, names.map((name) => `- { name: ${name}, script: 'echo $MILLRACE_TASK >> ${ran}' }`).join('\n'))
    for (const name of names) {
      const task = await ended(one, `1:${name}`)
      const { text: log } = await one.ask('GET', `/v1/tasks/${task.id}/log`)
      expect(task.state, `${JSON.stringify(task)}\n${log}`).toBe('succeeded')
    }
    expect(readFileSync(ran, 'utf8').trim().split('\n').sort()).toEqual([...names].sort())
  })

  test('a container whose server was killed is ended before its task runs again', async () => {
    await using db = await database()
    const place = { db, path: (await scratch()).path }
    const running = () => containers.podman('ps', '--quiet', '--no-trunc').split('\n').filter(Boolean)
    const first = await start(place)
    await anArchive(first, `- { name: sleep, image: '${IMAGE}', command: [sh, -c, 'echo up; sleep 300'] }`)
    const up = async ({ ask }: Server) => {
      const { text } = await ask('GET', `/v1/tasks/${encodeURIComponent('Project@1:sleep')}/log`)
      return text === 'up\n' ? true : undefined
    }
    await waitFor(() => up(first))
    const before = running()
    expect(before).toHaveLength(1)
    await killHard(first.program, place)
    expect(running()).toEqual(before)
    const second = await start(place)
    await waitFor(() => (running().length === 1 && running()[0] !== before[0] ? true : undefined))
    await waitFor(() => up(second))
    const { id } = (await second.ask('GET', `/v1/tasks/${encodeURIComponent('Project@1:sleep')}`)).json
    expect((await second.ask('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
    expect((await ended(second, '1:sleep')).state).toBe('canceled')
    expect(running()).toEqual([])
  })
})
