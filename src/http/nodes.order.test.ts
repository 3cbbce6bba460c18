import { existsSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { below, command, type Item, shell, sleeping, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'

const nodes = useNodes()
let files = 0

/** A path at which nothing is yet. */
function aPath(): string {
  files += 1
  const path = join(tmpdir(), `millrace-order-${process.pid}-${files}`)
  onTestFinished(() => rm(path, { force: true }))
  return path
}

const milliseconds = (at: string) => new Date(at).getTime()

describe('T2: a child starts after its parent', () => {
  test('a child starts only when its parent has ended', async () => {
    const path = aPath()
    const [parent, child] = await nodes.run(
      shell(`sleep 0.2; echo parent >> ${path}`),
      below('#0', shell(`cat ${path}; echo child >> ${path}`)),
    )
    expect(child.data.stdout).toBe('parent\n')
    expect(milliseconds(child.metadata.started_at)).toBeGreaterThanOrEqual(milliseconds(parent.metadata.finished_at))
  })

  test('siblings run at the same time', async () => {
    const [a, b] = [aPath(), aPath()]
    const meet = (mine: string, other: string) =>
      shell(`touch ${mine}; for i in $(seq 2000); do [ -e ${other} ] && exit 0; sleep 0.05; done; exit 1`)
    const ran = await nodes.run(sleeping(0), below('#0', meet(a, b)), below('#0', meet(b, a)))
    expect(ran.map((node) => node.metadata.state)).toEqual(['finished', 'finished', 'finished'])
  })

  test.each([
    ['success', 'true', 'finished'],
    ['failure', 'true', 'skipped'],
    ['always', 'true', 'finished'],
    ['success', 'false', 'skipped'],
    ['failure', 'false', 'finished'],
    ['always', 'false', 'finished'],
  ])('run_if %s below %s ends %s', async (runIf, program, state) => {
    const [, child] = await nodes.run(command(program), below('#0', command('true'), { data: { run_if: runIf } }))
    expect(child.metadata.state).toBe(state)
    if (state === 'skipped')
      expect(child.data.error).toMatch(/^skipped: it waits for the (success|failure) of node \d+/)
  })

  test('below a skipped node only what always runs does', async () => {
    const ran = await nodes.run(
      command('false'),
      below('#0', command('true')),
      below('#1', command('true')),
      below('#1', command('true'), { data: { run_if: 'failure' } }),
      below('#1', command('true'), { data: { run_if: 'always' } }),
    )
    expect(ran.map((node) => node.metadata.state)).toEqual(['failed', 'skipped', 'skipped', 'skipped', 'finished'])
  })

  test('a child of a parent that has ended is decided at once', async () => {
    const [done, failed] = await nodes.add(command('true'), command('false'))
    await nodes.ended(done as string, failed as string)
    const states = await nodes.ended(
      ...(await nodes.add(
        below(done as string, command('true')),
        below(failed as string, command('true')),
        below(failed as string, command('true'), { data: { run_if: 'failure' } }),
      )),
    )
    expect(states).toEqual(['finished', 'skipped', 'finished'])
  })

  test('the tree stays as it is when nodes end', async () => {
    const ran = await nodes.run(sleeping(0), below('#0', sleeping(0)), below('#1', sleeping(0)))
    const ids = ran.map((node) => node.metadata.id)
    expect(ran.map((node) => node.metadata.parent)).toEqual(['root', ids[0], ids[1]])
  })
})

const condition = (data: Record<string, unknown>): Item => ({ metadata: { type: 'condition', parent: 'root' }, data })
const branching = (program: string): Item => ({ metadata: { type: 'if', parent: 'root' }, data: { command: program } })

describe('T13: conditions, branches and sleep', () => {
  test('a sleep runs for its time, then its children start', async () => {
    const [node, child] = await nodes.run(sleeping(0.3), below('#0', command('true')))
    const { started_at: start, finished_at: end } = node.metadata
    expect(milliseconds(end) - milliseconds(start)).toBeGreaterThanOrEqual(300)
    expect([node.metadata.state, node.data.result, child.metadata.state]).toEqual(['finished', 0, 'finished'])
  })

  test('sleeping nodes run, and keep nobody from running', async () => {
    const sleepers = await nodes.add(...Array.from({ length: 20 }, () => sleeping(3600)))
    for (const id of sleepers) await nodes.reaches(id, 'running')
    expect((await nodes.run(command('true')))[0].metadata.state).toBe('finished')
    const kill = await nodes.ask('PUT', `/v1/scheduler/kill?id=${sleepers.join(',')}`)
    expect(kill.json.nodes.every((node: { state: string }) => node.state === 'killed')).toBe(true)
  })

  test('a condition waits until a file is there', async () => {
    const path = aPath()
    const [id, child] = await nodes.add(condition({ file: path, interval: 0.1 }), below('#0', command('true')))
    await nodes.reaches(id as string, 'running')
    expect(await nodes.states(child as string)).toEqual(['incipient'])
    writeFileSync(path, '')
    expect(await nodes.ended(id as string, child as string)).toEqual(['finished', 'finished'])
    expect((await nodes.get(id as string)).data.result).toBeNull()
  })

  test('a condition waits until a time has come, and one in the past is met at once', async () => {
    const soon = new Date(Date.now() + 600).toISOString()
    const [later, at] = await nodes.run(condition({ time: soon }), condition({ time: '2020-01-01T00:00:00+01:00' }))
    expect([later.metadata.state, at.metadata.state]).toEqual(['finished', 'finished'])
    expect(milliseconds(later.metadata.finished_at)).toBeGreaterThanOrEqual(milliseconds(soon))
  })

  test('a condition looks with a command until it succeeds, and keeps the output of the last look', async () => {
    const path = aPath()
    const script = `echo x >> ${path}; n=$(wc -l < ${path}); echo look $n; [ $n -ge 3 ]`
    const [node] = await nodes.run(condition({ command: 'sh', args: ['-c', script], interval: 0.1 }))
    expect(node.metadata.state).toBe('finished')
    expect(node.data).toMatchObject({ result: 0, stdout: 'look 3\n' })
  })

  test('a condition that does not come true in time fails, saying so', async () => {
    const [byFile, byCommand] = await nodes.run(
      condition({ file: '/nonexistent/file', interval: 0.1, timeout: 0.4 }),
      condition({ command: 'sleep', args: ['60'], timeout: 0.4 }),
    )
    for (const node of [byFile, byCommand]) {
      expect(node.metadata.state).toBe('failed')
      expect(node.data.error).toMatch(/^timed out: the condition did not come true within 0.4 s/)
    }
  })

  test('a condition whose command cannot be started fails', async () => {
    const [node] = await nodes.run(condition({ command: '/nonexistent/program' }))
    expect(node.metadata.state).toBe('failed')
    expect(node.data.error).toMatch(/could not be started/)
  })

  test.each([
    ['true', 0, 'finished', 'skipped'],
    ['false', 1, 'skipped', 'finished'],
  ])('an if with %s is finished with its code and runs one branch', async (program, result, thenState, elseState) => {
    const [node, first, second, other, deep] = await nodes.run(
      branching(program),
      below('#0', command('true')),
      below('#0', command('true'), { data: { branch: 'then' } }),
      below('#0', command('true'), { data: { branch: 'else' } }),
      below('#3', command('true')),
    )
    expect(node).toMatchObject({ metadata: { state: 'finished' }, data: { result } })
    expect([first, second, other, deep].map((child) => child.metadata.state)).toEqual([
      thenState,
      thenState,
      elseState,
      elseState,
    ])
    const skipped = [first, other].find((child) => child.metadata.state === 'skipped')
    expect(skipped.data.error).toBe('skipped: the if has chosen the other branch')
  })

  test('a child that is added to an if that has chosen is decided at once', async () => {
    const [node] = await nodes.run(branching('false'))
    const ran = await nodes.run(
      below(node.metadata.id, command('true')),
      below(node.metadata.id, command('true'), { metadata: { branch: 'else' } }),
    )
    expect(ran.map((child) => child.metadata.state)).toEqual(['skipped', 'finished'])
  })

  test('an if whose command cannot be started fails, and neither branch runs', async () => {
    const ran = await nodes.run(
      branching('/nonexistent/program'),
      below('#0', command('true')),
      below('#0', command('true'), { data: { branch: 'else' } }),
      below('#0', command('true'), { data: { run_if: 'failure' } }),
    )
    expect(ran.map((node) => node.metadata.state)).toEqual(['failed', 'skipped', 'skipped', 'finished'])
  })

  test('children that are added while an if runs are never missed', async () => {
    const path = aPath()
    const wait = `for i in $(seq 4000); do [ -e ${path} ] && exit 1; sleep 0.02; done`
    const [id] = await nodes.add({
      metadata: { type: 'if', parent: 'root' },
      data: { command: 'sh', args: ['-c', wait] },
    })
    await nodes.reaches(id as string, 'running')
    writeFileSync(path, '')
    const added: string[] = []
    await waitFor(async () => {
      added.push(...(await nodes.add(below(id as string, command('true')))))
      return (await nodes.states(id as string))[0] === 'finished' ? true : undefined
    })
    expect(existsSync(path)).toBe(true)
    expect(new Set(await nodes.ended(...added))).toEqual(new Set(['skipped']))
  })
})
