// Archives whose tasks really run: a server, a repository, commands.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sourceOf } from './archives.ts'
import { commandLineOf } from './command-line.ts'
import { inForm } from './long-form.ts'
import { isAlive, waitFor } from './processes.ts'
import { startApache } from './repositories/apache.ts'
import { gitFiles } from './repositories/git.ts'
import type { Ground, Plain } from './repositories/ground.ts'
import { write } from './repositories/kit.ts'
import { svnFiles, svnServe } from './repositories/svn.ts'
import { scratch } from './scratch.ts'
import { aServer, type TestServer, useServer } from './server.ts'

const grounds = {
  svn: svnFiles,
  'svn-served': svnServe,
  'svn-by-http': () => startApache('svn'),
  git: gitFiles,
} as const
const kinds = inForm(['svn', 'git'], Object.keys(grounds)) as (keyof typeof grounds)[]
const made = new Map<keyof typeof grounds, Ground>()
beforeAll(async () => {
  for (const kind of kinds) made.set(kind, await grounds[kind]())
})
afterAll(async () => {
  for (const ground of made.values()) await ground[Symbol.asyncDispose]()
})

const server = useServer({ poll_seconds: 3600, grace_seconds: 1 })
let archives = 0

/** Registers a new repository with this workflow, as an archive of the server. */
async function anArchive(
  server: TestServer,
  kind: keyof typeof grounds,
  workflow: string,
  name = `Project-${archives}`,
) {
  archives += 1
  const plain = (await made.get(kind)?.create()) as Plain
  const commit = (files: Record<string, string>, message = 'a change') =>
    plain.commit(async (copy) => {
      for (const [path, text] of Object.entries(files)) await write(join(copy, path), text)
    }, message)
  await commit({ '_workflows/a.yaml': workflow })
  const source = await sourceOf(server, plain, name)
  const answer = await server.ask('PUT', `/v1/archives/${name}`, { body: { source, from: 1 } })
  expect(answer.status, answer.text).toBe(201)
  const announce = async (rev: number) => {
    const { status, text } = await server.ask('POST', `/v1/archives/${name}/commits`, { body: { rev } })
    expect([200, 202], text).toContain(status)
  }
  await announce(1)
  const task = async (key: string) => {
    const { status, json } = await server.ask('GET', `/v1/tasks/${encodeURIComponent(`${name}@${key}`)}`)
    return status === 200 ? json : undefined
  }
  const state = (key: string, ...states: string[]) =>
    waitFor(async () => {
      const found = await task(key)
      return states.includes(found?.state) ? found : undefined
    })
  const log = async (key: string) =>
    (await server.ask('GET', `/v1/tasks/${encodeURIComponent(`${name}@${key}`)}/log`)).text
  return { name, commit, announce, task, state, log }
}

describe.each(kinds)('an archive in %s', (kind) => {
  test('A3: a superseded build is really gone before the one that supersedes it begins', async () => {
    const { path } = await scratch()
    const archive = await anArchive(
      server,
      kind,
      `
- name: indexing
  depends: [PREV]
  script: echo "indexing $MILLRACE_REVISION"
- name: build-PDF
  depends: [indexing]
  cancels: [PREV]
  script: |
    trap '' TERM
    echo "building $MILLRACE_REVISION as $$"
    cat "$MILLRACE_CHANGED_PATHS"
    for old in ${path}/*; do [ ! -e "$old" ] || ! kill -0 "$(basename "$old")" || echo "$old still runs"; done
    touch ${path}/$$
    if [ "$MILLRACE_REVISION" != 3 ]; then sleep 300 & wait; fi
`,
    )
    await archive.state('1:build-PDF', 'running')
    await waitFor(async () => ((await archive.log('1:build-PDF')).includes('building 1') ? true : undefined))
    await archive.commit({ 'chapter-2': 'two\n' })
    await archive.announce(2)
    await waitFor(async () => ((await archive.log('2:build-PDF')).includes('building 2') ? true : undefined))
    const first = await archive.state('1:build-PDF', 'canceled')
    const pid = Number(/as (\d+)/.exec(await archive.log('1:build-PDF'))?.[1])
    expect(isAlive(pid)).toBe(false)
    await archive.commit({ 'chapter-3': 'three\n' })
    await archive.announce(3)
    const third = await archive.state('3:build-PDF', 'succeeded')
    const second = await archive.state('2:build-PDF', 'canceled')
    expect(first.superseded_by).toBe(second.id)
    expect(second.superseded_by).toBe(third.id)
    const told = await archive.log('3:build-PDF')
    // It covers what those before it would have.
    for (const name of ['_workflows/a.yaml', 'chapter-2', 'chapter-3']) expect(told).toContain(`${name}\n`)
    expect(told).not.toContain('still runs')
    expect(Date.parse(third.attempts.at(-1).started_at)).toBeGreaterThanOrEqual(Date.parse(second.finished_at))
  })

  test('A10: a task that commits makes one revision, which is planned with its cause and does not loop for ever', async () => {
    const commit = `curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -H "Authorization: Bearer $MILLRACE_TOKEN"`
    const archive = await anArchive(
      server,
      kind,
      `
- name: count
  script: |
    echo "$MILLRACE_REVISION" >> counted
    ${commit} -d '{"message": "count"}' http://millrace/commit
`,
    )
    for (let rev = 1; rev <= 6; rev += 1) {
      const done = await archive.state(`${rev}:count`, 'succeeded', 'failed')
      expect(done.output, await archive.log(`${rev}:count`)).toMatchObject({ exit_code: 0, commits: [rev + 1] })
      await archive.announce(rev + 1)
    }
    const last = await waitFor(async () => {
      const { status, json } = await server.ask('GET', `/v1/archives/${archive.name}/revisions/7`)
      return status === 200 ? json : undefined
    })
    expect(last.cause).toMatch(new RegExp(`^${archive.name}@6:count .*depth=6$`))
    expect(await archive.task('7:count')).toBeUndefined()
    expect(JSON.stringify(last.problems)).toMatch(/depth|chain|commits/)
  })

  test('A12: outputs, exit codes and times are there after a restart', async () => {
    await using server = await aServer({ poll_seconds: 3600 })
    const archive = await anArchive(
      server,
      kind,
      `
- { name: good, command: [sh, -c, 'echo fine; mkdir out; echo made > out/x'], artifacts: 'out/*' }
- { name: bad, command: [sh, -c, 'echo broken >&2; exit 3'], retries: 1 }
`,
    )
    const before = [await archive.state('1:good', 'succeeded'), await archive.state('1:bad', 'failed')]
    await server.stop()
    await using next = await aServer({ on: server.database })
    const look = async (key: string) =>
      (await next.ask('GET', `/v1/tasks/${encodeURIComponent(`${archive.name}@${key}`)}`)).json
    const after = [await look('1:good'), await look('1:bad')]
    expect(after).toEqual(before)
    expect(after[0].output).toEqual({ exit_code: 0, artifacts: 1 })
    expect(after[1].error).toMatchObject({ message: 'exited with 3', data: { exit_code: 3 } })
    expect(after[1].attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['retry', 'failed'])
    for (const { started_at: began, finished_at: ended } of after)
      expect(Date.parse(ended)).toBeGreaterThanOrEqual(Date.parse(began))
    expect((await next.ask('GET', `/v1/tasks/${after[1].id}/log?attempt=1`)).text).toBe('broken\n')
    expect((await next.ask('GET', `/v1/tasks/${after[0].id}/artifacts/out%2Fx`)).text).toBe('made\n')
  })
})

test('the index is not kept waiting by long tasks of earlier revisions', async () => {
  const gate = join((await scratch()).path, 'gate')
  const archive = await anArchive(
    server,
    'svn',
    `
- { name: indexing, uses: index, depends: [PREV] }
- { name: long, exclusive: true, script: 'while [ ! -e ${gate} ]; do sleep 0.05; done' }
`,
  )
  await archive.state('1:long', 'running')
  for (const rev of [2, 3]) {
    await archive.commit({ chapter: `the wheel turned ${rev} times` })
    await archive.announce(rev)
    await archive.state(`${rev}:indexing`, 'succeeded')
  }
  const { json } = await server.ask('GET', `/v1/archives/${archive.name}/index?q=wheel`)
  expect(json).toMatchObject({ items: [{ path: 'chapter', last_changed: 3 }] })
  expect((await archive.task('1:long')).state).toBe('running')
  expect((await archive.task('3:long')).state).toBe('waiting')
  await writeFile(gate, '')
  await archive.state('3:long', 'succeeded')
})

test('A15: a secret reaches the task and nothing else, and its token reaches the task alone', async () => {
  const run = commandLineOf(server)
  const SECRET = 'hunter2-is-the-password'
  const { path } = await scratch()
  await writeFile(join(path, 'secret'), SECRET)
  expect(
    (await run(['secret', 'set', 'PASSWORD', '--archive', 'Project-secret', '--file', join(path, 'secret')])).exitCode,
  ).toBe(0)
  const archive = await anArchive(
    server,
    'svn',
    `
- name: use
  secrets: [PASSWORD]
  script: |
    test "$PASSWORD" = "$(cat ${path}/secret)"
    echo "it is $PASSWORD"
    ask() { curl -sS -H "Authorization: Bearer $MILLRACE_TOKEN" "$MILLRACE_URL$1" | head -c 200; echo; }
    ask "/v1/tasks/$MILLRACE_TASK_ID/why"
    ask "/v1/tasks"
    ask "/v1/secrets"
`,
    'Project-secret',
  )
  const task = await archive.state('1:use', 'succeeded', 'failed')
  const log = await archive.log('1:use')
  expect(task.state, log).toBe('succeeded')
  expect(log).toContain('it is ***\n')
  expect(log).toContain(`"id":"${task.id}"`)
  expect(log.match(/"code":"forbidden"/g)).toHaveLength(2)
  const told = await Promise.all(
    [
      `/v1/tasks/${task.id}`,
      `/v1/tasks/${task.id}/events`,
      '/v1/secrets',
      `/v1/archives/${archive.name}/revisions/1`,
    ].map(async (where) => (await server.ask('GET', where)).text),
  )
  const { rows } = await server.database.pool.query('select o::text as told from millrace.outbox as o')
  for (const text of [...told, ...rows.map((row) => row.told as string)]) expect(text).not.toContain(SECRET)
  expect(existsSync(join(path, 'secret'))).toBe(true)
})
