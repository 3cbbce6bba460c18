import { spawnSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../../test/processes.ts'
import { aTaskServer, type TaskServer } from '../../test/task-server.ts'

let server: TaskServer

beforeAll(async () => {
  server = await aTaskServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const run: TaskServer['commandLine'] = (...asked) => server.commandLine(...asked)

describe('why', () => {
  test('says in one sentence what stands in the way', async () => {
    const first = await server.add()
    const second = await server.add({ requires: [first] })
    const { stdout, stderr, exitCode } = await run(['why', second])
    expect(stdout).toMatch(new RegExp(`^· waiting {2}waits for .*${first}`))
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  })

  test('as JSON has these fields', async () => {
    const id = await server.add()
    const { stdout } = await run(['why', id, '--json'])
    expect(JSON.parse(stdout)).toEqual({ id, state: 'ready', why: expect.any(String), culprits: [] })
    const picked = await run(['why', id, '--json=state,id'])
    expect(picked.stdout).toBe(`{"state":"ready","id":"${id}"}\n`)
  })

  test('a field that is not there is refused with those that are', async () => {
    const id = await server.add()
    const { exitCode, stdout, stderr } = await run(['why', id, '--json=status'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('choose from id, state, why, culprits')
  })
})

describe('an ID', () => {
  test('may be a number, a natural key, or the pasted address of a page', async () => {
    const id = await server.add({ scope: 'archive:My-Project', key: '12:index' })
    const names = [
      id,
      'My-Project@12:index',
      'archive:My-Project/12:index',
      `${server.url}/tasks/${id}`,
      `${server.url}/tasks/${id}?tab=log#L12`,
      `${server.url}/v1/tasks/My-Project%4012%3Aindex`,
      `${server.url}/archives/My-Project/r/12/index`,
    ]
    for (const name of names) {
      const { stdout } = await run(['why', name, '--json=id'])
      expect(stdout, name).toBe(`{"id":"${id}"}\n`)
    }
  })

  test('of another server is refused, because the number means another task there', async () => {
    const { exitCode, stderr } = await run(['why', 'https://elsewhere.example/tasks/1'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('add --server https://elsewhere.example')
  })

  test('that nothing has is exit code 3, with what, why and the id of the request', async () => {
    const { exitCode, stdout, stderr } = await run(['show', '999999'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
    const [what, why, ...rest] = stderr.trimEnd().split('\n')
    expect(what).toMatch(/^millrace: .*999999/)
    expect(why).toBe('why: There is no such task (task_not_found)')
    expect(rest.at(-1)).toMatch(/^request id: [\w-]+$/)
  })
})

describe('logs', () => {
  test('of a milestone says that it has no output', async () => {
    const { id } = await server.millrace.addMilestone({ requires: [await server.add()] })
    expect(await run(['logs', id])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: `${id} is a milestone: it runs nothing and has no output\n`,
    })
    await server.perform()
    expect((await run(['logs', id, '--follow'])).stderr).toContain('is a milestone')
    expect((await run(['logs', await server.add()])).stderr).toBe('')
  })
})

describe('show', () => {
  test('tells state, neighbours, attempts and error', async () => {
    const culprit = await server.add({ payload: 'broken', key: 'culprit' })
    const victim = await server.add({ requires: [culprit] })
    await server.perform()
    const { stdout } = await run(['show', culprit])
    expect(stdout).toMatch(new RegExp(`^task ${culprit} {2}default/culprit {2}✗ failed\n`))
    expect(stdout).toContain('error\n  it is broken\n')
    expect(stdout).toContain(`└─ ${victim} – skipped`)
    expect(stdout).toMatch(/attempts\n {2}└─ 1 failed/)
  })

  test('as JSON is the task of the API', async () => {
    const id = await server.add()
    const { stdout } = await run(['show', id, '--json'])
    expect(JSON.parse(stdout)).toEqual((await server.ask('GET', `/v1/tasks/${id}`)).json)
  })

  test('does not let a name command the terminal', async () => {
    const id = await server.add({ key: 'evil\u001b[2J\u202e', payload: { text: '\u001b]0;owned\u0007' } })
    const { stdout } = await run(['show', id], { terminal: { columns: 200, rows: 50 }, env: { NO_COLOR: '1' } })
    for (const character of ['\u001b', '\u202e', '\u0007']) expect(stdout).not.toContain(character)
    expect(stdout).toContain('evil\ufffd[2J\ufffd')
  })
})

describe('colour', () => {
  const colored = /\p{Cc}\[\d+m/u
  const on = { columns: 80, rows: 24 }

  test('is for terminals, and for those who ask for it', async () => {
    const id = await server.add()
    const why = (args: string[], terminal = false, env = {}) =>
      run(['why', id, ...args], { env, ...(terminal && { terminal: on }) }).then(({ stdout }) => colored.test(stdout))
    expect(await why([], true)).toBe(true)
    expect(await why([])).toBe(false)
    expect(await why(['--color=always'])).toBe(true)
    expect(await why(['--color', 'never'], true)).toBe(false)
    expect(await why([], true, { NO_COLOR: '1' })).toBe(false)
    expect(await why([], false, { FORCE_COLOR: '1' })).toBe(true)
    expect(await why(['--color=always'], false, { NO_COLOR: '1' })).toBe(true)
    expect(await why([], true, { TERM: 'dumb' })).toBe(false)
    expect(await why(['--json', '--color=always'], true)).toBe(false)
  })
})

describe('events', () => {
  test('of a task are its story', async () => {
    const id = await server.add()
    await run(['hold', id, '--cause', 'not today'])
    const { stdout } = await run(['events', id])
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/ {2}held {2}by admin {2}not today$/)
    const lines = (await run(['events', id, '--ndjson'])).stdout.trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ name: 'held', to: 'held', cause: 'not today' })
  })

  test('are printed as they happen, and interrupting ends it with 130', async () => {
    const begun = run(['events', '-f', '--scope', 'scope-of-this', '--ndjson', '--after', 'oldest'])
    const id = await server.add({ scope: 'scope-of-this' })
    await begun.says(new RegExp(`"task":"${id}"`))
    begun.interrupt()
    const { exitCode, stdout, stderr } = await begun
    expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '' })
    for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ scope: 'scope-of-this' })
  })

  test('that are kept are printed in order, a limited number of them', async () => {
    const ids = [
      await server.add({ scope: 'three' }),
      await server.add({ scope: 'three' }),
      await server.add({ scope: 'three' }),
    ]
    const following = run(['events', '-f', '--scope', 'three', '--after', 'oldest'])
    await following.says(new RegExp(`\\b${ids[2]}\\b`))
    const { stdout, stderr } = await run(['events', '--scope', 'three', '--limit', '2', '--ndjson'])
    const positions = stdout
      .trimEnd()
      .split('\n')
      .map((line) => Number((JSON.parse(line) as { id: string }).id))
    expect(positions).toHaveLength(2)
    expect(positions).toEqual([...positions].sort((a, b) => a - b))
    expect(stderr).toMatch(/--after \d+/)
  })
})

describe('a server', () => {
  test('that does not answer is exit code 6 with what to do', async () => {
    const { exitCode, stderr } = await run(['status'], { env: { MILLRACE_URL: 'http://127.0.0.1:1' } })
    expect(exitCode).toBe(6)
    expect(stderr).toMatch(/^millrace: no server answers at http:\/\/127.0.0.1:1 .*\nto fix it: .*millrace serve/)
  })

  test('that does not know the token is exit code 4', async () => {
    const { exitCode, stderr } = await run(['why', '1'], { env: { MILLRACE_TOKEN: 'wrong' } })
    expect(exitCode).toBe(4)
    expect(stderr).toContain('(unauthorized)')
  })
})

describe('ls', () => {
  test('of a state that is none says which there are', async () => {
    const { exitCode, stderr } = await run(['ls', '--state', 'failed,bogus'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('"bogus" is no state\nto fix it: states are waiting, delayed, ')
  })

  test('lists the newest first, filtered, with the fields of the API', async () => {
    const ids = [await server.add({ scope: 'listed' }), await server.add({ scope: 'listed', key: 'k' })]
    await server.millrace.hold(ids[0] ?? '')
    expect((await run(['ls', '--scope', 'listed', '-q'])).stdout).toBe(`${ids[1]}\n${ids[0]}\n`)
    expect((await run(['ls', '--scope', 'liste*', '--state', 'held', '-q'])).stdout).toBe(`${ids[0]}\n`)
    expect((await run(['ls', 'state:held', 'scope:listed', '-q'])).stdout).toBe(`${ids[0]}\n`)
    const [task] = JSON.parse((await run(['ls', '--scope', 'listed', '--json', '--limit', '1'])).stdout)
    expect(task).toEqual({
      id: ids[1],
      kind: 'test.work',
      queue: 'default',
      scope: 'listed',
      key: 'k',
      state: 'ready',
      priority: 0,
      created_at: expect.any(String),
      started_at: null,
      finished_at: null,
    })
    const { stdout } = await run(['ls', '--scope', 'listed', '--plain'])
    expect(stdout.split('\n')[0]).toMatch(new RegExp(`^${ids[1]}\tready\ttest.work\tlisted/k\t\\d{4}-[^\t]*Z\t$`))
  })

  test('says that there are more, and --all lists them page by page', async () => {
    const many = Array.from({ length: 520 }, () => server.add({ scope: 'many' }))
    const ids = await Promise.all(many)
    const some = await run(['ls', '--scope', 'many', '-q', '--limit', '2'])
    expect(some.stdout.trim().split('\n')).toHaveLength(2)
    expect(some.stderr).toContain('--all')
    const all = await run(['ls', '--scope', 'many', '-q', '--all'])
    expect(all.stdout.trim().split('\n').sort()).toEqual(ids.toSorted())
    expect(all.stderr).toBe('')
  })

  test('on a terminal fits its width, and into a pipe nothing is cut', async () => {
    const key = 'a-very-long-key-that-does-not-fit-into-a-narrow-terminal-by-any-means'
    await server.add({ scope: 'wide', key })
    const narrow = await run(['ls', '--scope', 'wide'], { terminal: { columns: 60, rows: 20 }, env: { NO_COLOR: '1' } })
    for (const line of narrow.stdout.trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(60)
    expect((await run(['ls', '--scope', 'wide'])).stdout).toContain(key)
  })

  test('of nothing prints nothing, and an empty list as JSON', async () => {
    expect(await run(['ls', '--scope', 'nowhere'])).toMatchObject({ stdout: '', stderr: 'no tasks\n', exitCode: 0 })
    expect((await run(['ls', '--scope', 'nowhere', '--json'])).stdout).toBe('[]\n')
  })
})

describe('status', () => {
  test('says which server, who asks, who performs and how many tasks', async () => {
    const { stdout } = await run(['status', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      url: server.url,
      url_from: 'MILLRACE_URL',
      version: expect.stringMatching(/^\d+\.\d+/),
      you: { name: 'admin', role: 'admin', limit: null, from: 'MILLRACE_TOKEN' },
      workers: expect.arrayContaining([expect.stringMatching(/^\S+:\d+$/), expect.stringMatching(/:\d+ index$/)]),
      tasks: expect.objectContaining({ ready: { count: expect.any(Number), is_exact: expect.any(Boolean) } }),
    })
    expect((await run(['status'])).stdout).toMatch(/^tasks .* ready/m)
  })
})

describe('top', () => {
  test('on a terminal shows what runs, and q ends it', async () => {
    const { task, end } = await server.runOne()
    const keys = new PassThrough()
    const looking = run(['top', '--interval', '100ms'], { terminal: { columns: 100, rows: 30 }, stdin: keys })
    await looking.says(new RegExp(`${task} .*● running`))
    keys.write('q')
    const { exitCode, stdout } = await looking
    expect(exitCode).toBe(0)
    expect(stdout.endsWith('\u001b[?25h')).toBe(true)
    await end()
  })

  test('into a pipe prints each change as a line', async () => {
    const looking = run(['top', '--interval', '100ms', '--ndjson'])
    await looking.says(/"state"/)
    const { task, end } = await server.runOne()
    await looking.says(new RegExp(`"id":"${task}".*"state":"running"`))
    await end()
    await looking.says(new RegExp(`"id":"${task}".*"state":"succeeded"`))
    looking.interrupt()
    expect((await looking).exitCode).toBe(130)
  })
})

describe('worker ls', () => {
  test('lists who performs tasks', async () => {
    const workers = JSON.parse((await run(['worker', 'ls', '--json=name,is_alive,kinds'])).stdout)
    expect(workers).toContainEqual({
      name: expect.any(String),
      is_alive: true,
      kinds: expect.arrayContaining(['node']),
    })
  })
})

describe('completion', () => {
  test('suggests commands, options, their values and ids of tasks', async () => {
    const id = await server.add({ key: 'suggested' })
    const suggest = async (...words: string[]) => (await run(['complete', '--', ...words])).stdout.split('\n')
    expect(await suggest('wa')).toEqual(expect.arrayContaining(['wait\twait until tasks have ended or are in a state']))
    expect(await suggest('node', 'k')).toContain('kill\tstop nodes, or keep them from starting')
    expect((await suggest('ls', '--st')).join()).toContain('--state\t')
    expect((await suggest('wait', '--for', 'run')).join()).toContain('running\t')
    // A server that is busy is not waited for, so that this may take more than one attempt.
    const wanted = `${id}\tready default/suggested`
    await waitFor(async () => (await suggest('show', '')).includes(wanted) || undefined)
    expect(await suggest('node', 'add', '--parent', '1', '--ru')).toContain(
      '--run-if\trun if the parent ended so (default: success)',
    )
    // Behind the program all words are its own: the shell suggests files.
    for (const before of [[], ['--']]) {
      expect(await suggest('node', 'add', '--parent', '1', ...before, 'sh', '-')).toEqual([':0', ''])
    }
    expect((await suggest('complet')).join()).not.toContain('complete\t')
  })

  test('for bash may be read twice', async () => {
    const { stdout } = await run(['completion', 'bash'])
    const twice = `${stdout}\n${stdout}\ncomplete -p millrace`
    const read = spawnSync('bash', ['--norc', '-s'], { input: twice, encoding: 'utf8' })
    expect(read).toMatchObject({ status: 0, stderr: '' })
  })

  test('prints a script for each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { stdout, exitCode } = await run(['completion', shell])
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/millrace.*complete.*--/)
    }
    expect((await run(['completion', 'csh'])).exitCode).toBe(2)
  })
})
