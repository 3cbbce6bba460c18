import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aTaskServer, type TaskServer } from '../../test/task-server.ts'

const terminal = { columns: 100, rows: 30 }
let server: TaskServer

beforeAll(async () => {
  server = await aTaskServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const run: TaskServer['commandLine'] = (...asked) => server.commandLine(...asked)
const stateOf = async (id: string) => (await server.millrace.task(id)).state

describe('one task', () => {
  test('is held, released, canceled and retried, and each says what to do next', async () => {
    const id = await server.add()
    expect((await run(['hold', id])).stdout).toBe(`held ${id}: ‖ held; let it go on with \`millrace release ${id}\`\n`)
    expect((await run(['release', id])).stdout).toMatch(/^released \d+: ○ ready; watch with `millrace watch \d+`\n$/)
    expect((await run(['cancel', id, '--yes'])).stdout).toBe(`canceled ${id}: ⊘ canceled\n`)
    expect((await run(['retry', id])).stdout).toMatch(/^retried \d+: ○ ready/)
    expect((await run(['skip', id, '--yes'])).stdout).toBe(`skipped ${id}: – skipped\n`)
  })

  test('the reason is kept, with who gave it', async () => {
    const id = await server.add()
    await run(['hold', id, '--cause', 'not today'])
    expect((await server.millrace.history(id)).at(-1)).toMatchObject({
      name: 'held',
      cause: 'not today',
      actor: 'admin',
    })
  })

  test('that its state does not allow is refused with exit code 5 and the reason', async () => {
    const id = await server.add()
    const { exitCode, stdout, stderr } = await run(['release', id])
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(stderr).toMatch(/is ready and cannot be released\nwhy: .*\(state_refused\)/)
  })

  test('that is asked for again with the wrong verb names the other one', async () => {
    const [good, broken] = [await server.add(), await server.add({ payload: 'broken' })]
    await server.perform()
    const retried = await run(['retry', good])
    expect(retried).toMatchObject({ exitCode: 5, stderr: expect.stringContaining(`\`millrace rerun ${good}\``) })
    const rerun = await run(['rerun', broken])
    expect(rerun).toMatchObject({ exitCode: 5, stderr: expect.stringContaining(`\`millrace retry ${broken}\``) })
  })

  test('that is a whole revision is refused, with what is meant', async () => {
    const retried = await run(['retry', 'My-Project@3'])
    expect(retried.exitCode).toBe(2)
    expect(retried.stderr).toContain('`millrace rerun My-Project@3 --only failed`')
    const task = await server.add({ scope: 'archive:My-Project', key: '3:index' })
    const held = await run(['hold', 'My-Project@3'])
    const [, filter = ''] = /--filter '(.*)'/.exec(held.stderr) ?? []
    expect((await run(['hold', '--filter', filter, '--dry-run', '-q'])).stdout).toBe(`${task}\n`)
  })

  test('that runs is asked to stop, which is not said to have happened', async () => {
    const { task, end } = await server.runOne()
    const { stdout } = await run(['cancel', task, '--yes'])
    expect(stdout).toBe(`asked ${task} to stop; watch with \`millrace watch ${task}\`\n`)
    await end()
  })
})

describe('what cannot be undone', () => {
  test('is not done where there is nobody to ask', async () => {
    const id = await server.add()
    // What is piped in is no answer of a person.
    const { exitCode, stderr } = await run(['cancel', id], { stdin: 'y\n' })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('there is nobody to ask')
    expect(await stateOf(id)).toBe('ready')
  })

  test('is asked about on a terminal, with the tasks it would be done to', async () => {
    const id = await server.add({ key: 'the-one' })
    const refused = await run(['cancel', id], { terminal, stdin: 'n\n' })
    expect(refused.stderr).toContain('the-one')
    expect(refused.stderr).toContain('cancel this task? [y/N]')
    expect(refused.exitCode).toBe(2)
    expect(await stateOf(id)).toBe('ready')
    expect((await run(['cancel', id], { terminal, stdin: 'y\n' })).exitCode).toBe(0)
    expect(await stateOf(id)).toBe('canceled')
  })

  test('is not done when the question is not answered', async () => {
    const id = await server.add()
    expect((await run(['cancel', id], { terminal })).exitCode).toBe(2)
    expect(await stateOf(id)).toBe('ready')
  })
})

describe('several tasks', () => {
  test('are acted on each for itself, and exit code 22 says that some were refused', async () => {
    const [good, held] = [await server.add(), await server.add()]
    await server.millrace.hold(held)
    const { exitCode, stdout, stderr } = await run(['release', good, held, '--yes'])
    expect(exitCode).toBe(22)
    expect(stdout).toMatch(new RegExp(`^released ${held}: ○ ready`))
    expect(stderr).toMatch(new RegExp(`^✗ ${good}: .*is ready and cannot be released\n$`))
  })

  test('all refused end with the exit code of the refusal', async () => {
    const ids = [await server.add(), await server.add()]
    expect((await run(['release', ...ids, '--yes'])).exitCode).toBe(5)
  })

  test('as JSON say of each what came of it', async () => {
    const [ready, held] = [await server.add(), await server.add()]
    await server.millrace.hold(held)
    const { stdout } = await run(['release', ready, held, '--yes', '--json'])
    expect(JSON.parse(stdout)).toEqual([
      { id: ready, state: null, error: { code: 'state_refused', message: expect.any(String) } },
      { id: held, state: 'ready', error: null },
    ])
  })

  test('quietly are the ids of those that were changed', async () => {
    const [ready, held] = [await server.add(), await server.add()]
    await server.millrace.hold(held)
    expect((await run(['release', ready, held, '--yes', '-q'])).stdout).toBe(`${held}\n`)
  })

  test('are listed and left alone by --dry-run', async () => {
    const ids = [await server.add(), await server.add()]
    const { stdout, stderr } = await run(['cancel', ...ids, '--dry-run', '-q'])
    expect(stdout).toBe(`${ids.join('\n')}\n`)
    expect(stderr).toBe('would cancel 2 tasks; nothing was changed\n')
    expect(await Promise.all(ids.map(stateOf))).toEqual(['ready', 'ready'])
  })

  test('named twice are acted on once', async () => {
    const id = await server.add()
    expect((await run(['hold', id, id, '--yes', '--json=id'])).stdout).toBe(`[{"id":"${id}"}]\n`)
  })
})

test('neither ids nor a filter, or both, are refused', async () => {
  for (const args of [['cancel'], ['cancel', '1', '--filter', 'state:ready']]) {
    expect((await run([...args, '--yes'])).exitCode).toBe(2)
  }
})

describe('priority', () => {
  test('changes the place of tasks, shows before what it would do, and needs to be told which', async () => {
    const [one, two] = [await server.add({ scope: 'placed' }), await server.add({ scope: 'placed' })]
    const would = await run(['priority', '--filter', 'scope:placed', '--to', '-4', '--dry-run'])
    expect(would).toMatchObject({ exitCode: 0, stderr: 'would prioritize 2 tasks; nothing was changed\n' })
    const done = await run(['priority', one, two, '--to', '-4', '--yes', '-q'])
    expect(done).toMatchObject({ exitCode: 0, stdout: `${one}\n${two}\n` })
    const { stdout } = await run(['ls', '--scope', 'placed', '--json=id,priority'])
    expect(JSON.parse(stdout)).toEqual([two, one].map((id) => ({ id, priority: -4 })))
    expect(await run(['priority', one])).toMatchObject({ exitCode: 2 })
    expect(await run(['priority', one, '--to', 'top'])).toMatchObject({ exitCode: 2 })
    expect(await run(['priority', one, '--to', '9999999999'])).toMatchObject({ exitCode: 2 })
    await server.perform()
    expect(await run(['priority', one, '--to', '1'])).toMatchObject({ exitCode: 5 })
  })
})

describe('a filter', () => {
  test('names exactly the tasks that it finds, and asks before it acts on them', async () => {
    const ids = [await server.add({ scope: 'filtered' }), await server.add({ scope: 'filtered' })]
    const other = await server.add({ scope: 'other' })
    const unasked = await run(['hold', '--filter', 'scope:filtered'])
    expect(unasked.exitCode).toBe(2)
    const dry = await run(['hold', '--filter', 'scope:filtered', '--dry-run', '-q'])
    expect(dry.stdout.trim().split('\n').sort()).toEqual(ids.toSorted())
    expect(await stateOf(ids[0] ?? '')).toBe('ready')
    const { exitCode, stdout } = await run(['hold', '--filter', 'scope:filtered state:ready', '--yes'])
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^held 2 tasks; /) })
    expect(await Promise.all([...ids, other].map(stateOf))).toEqual(['held', 'held', 'ready'])
  })

  test('that finds nothing changes nothing', async () => {
    const { exitCode, stderr } = await run(['cancel', '--filter', 'scope:nowhere', '--yes'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'no tasks: nothing to do\n' })
  })

  test('that cannot be understood is exit code 2', async () => {
    expect((await run(['cancel', '--filter', 'colour:red', '--yes'])).exitCode).toBe(2)
  })

  test('of many tasks shows how far it has come on a terminal', async () => {
    await Promise.all(Array.from({ length: 12 }, () => server.add({ scope: 'twelve' })))
    const { stderr } = await run(['hold', '--filter', 'scope:twelve', '--yes'], { terminal })
    expect(stderr).toContain('12 of 12')
    expect(stderr.endsWith('\r\u001b[K')).toBe(true)
  })
})
