// The container runner with podman. Each container takes the better part of a second, so this is not among the unit tests.
import { existsSync, readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createContainerRunner, EngineMissing, InvalidCommand } from '../../src/runners/index.ts'
import { newMarker, newNap, processesWith, runnerSuite } from '../../src/runners/runner.suite.ts'
import type { AdoptingRunner, CommandSpec, ContainerSpec } from '../../src/runners/runner.ts'
import { readOutput } from '../../src/storage/index.ts'
import { IMAGE, useContainers } from '../containers.ts'
import { database } from '../database.ts'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import { runProgram } from '../program.ts'
import { scratch } from '../scratch.ts'
import type { ContainerProgramSettings } from './container-program.ts'
import { kill } from './kit.ts'

const { podman, environment } = useContainers()
const bench = runnerSuite({
  create: () => createContainerRunner({ engine: 'podman' }),
  base: { container: { image: IMAGE } },
  isExact: false,
  isHost: false,
})

const containers = () => podman('ps', '--all', '--format', '{{.Names}}').trim()
afterEach(() => expect(containers()).toBe(''))

const inside = (script: string, container: Partial<ContainerSpec> = {}, more: Partial<CommandSpec> = {}) =>
  bench.run({ script, shell: 'sh', ...more, container: { image: IMAGE, ...container } })

test('it says by which engine it runs', async () => {
  expect(await bench.runner.describe()).toMatchObject({ runner: 'container', isUsable: true, hasExactOrder: false })
  const missing = createContainerRunner({ engine: '/no/such/engine' })
  expect(await missing.describe()).toMatchObject({ isUsable: false })
  await expect(missing.sweepLeftovers('x')).rejects.toBeInstanceOf(EngineMissing)
  const running = await missing.start(
    { argv: ['true'], env: {}, marker: 'x.1', container: { image: IMAGE } },
    { sink() {} },
  )
  expect(await running.ended).toMatchObject({
    type: 'spawn_failed',
    reason: expect.stringContaining('/no/such/engine'),
  })
})

test('an image that is not there is no exit code', async () => {
  const { ending } = await inside('true', { image: 'localhost/no-such-image:1' })
  expect(ending).toMatchObject({
    type: 'spawn_failed',
    reason: expect.stringMatching(/^no such image: localhost\/no-such/),
  })
  expect((await inside('exit 125')).ending).toEqual({ type: 'exited', code: 125 })
  await expect(inside('true', { image: '--privileged' })).rejects.toBeInstanceOf(InvalidCommand)
})

test('folder, user, mounts, network and umask are as asked', async () => {
  await using folder = await scratch()
  await writeFile(join(folder.path, 'given'), 'hello\n')
  const script =
    'pwd; id -u; cat /in/given; echo x > /out/made; (echo y > /in/no) 2>/dev/null || echo kept; ls /sys/class/net; umask'
  const { stdout } = await inside(
    script,
    {
      workdir: '/tmp',
      user: '0:0',
      network: 'none',
      mounts: [
        { source: folder.path, target: '/in', isReadOnly: true },
        { source: folder.path, target: '/out' },
      ],
    },
    { umask: 0o077 },
  )
  expect(stdout).toBe('/tmp\n0\nhello\nkept\nlo\n0077\n')
  expect(await readFile(join(folder.path, 'made'), 'utf8')).toBe('x\n')
  expect((await inside('id -u', { user: '1234' })).stdout).toBe('1234\n')
  const host = (await inside('ls /sys/class/net', { network: 'host' })).stdout
  expect(host.trim().split('\n').sort()).toEqual(readdirSync('/sys/class/net').sort())
})

test('limits hold, and a command that runs into the one of memory is told so', async () => {
  const limits = { processes: 20, memoryBytes: 64_000_000 }
  const files = '/sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max' // in one hierarchy or the other
  expect((await inside(`cat ${files} 2>/dev/null`, {}, { limits })).stdout).toBe('20\n')
  const { ending } = await inside('exec awk \'BEGIN { x = "x"; for (;;) x = x x }\'', {}, { limits })
  expect(ending).toEqual({ type: 'exited', code: 137, note: '137, probably out of memory' })
  expect(existsSync('oom')).toBe(false)
})

test('no variable of the command shows in the list of processes', async () => {
  const secret = `secret-${newNap()}`
  let isOver = false
  const seen: string[] = []
  const watching = (async () => {
    while (!isOver) {
      seen.push(...processesWith(secret))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  const env = { SECRET: secret, LINES: `${secret}\nsecond` }
  const { stdout } = await inside('[ -n "$SECRET" ] && echo "$LINES" | tail -n 1', {}, { env })
  isOver = true
  await watching
  expect(stdout).toBe('second\n')
  expect(seen).toEqual([])
})

const rounds = inForm(4, 40)

test('commands that do not want to end leave no process and no container', async () => {
  const nap = newNap()
  const script = `
    trap '' TERM
    (env -i setsid sh -c "(trap '' TERM; sleep ${nap}; :) >/dev/null 2>&1 &")
    (setsid sleep ${nap} &)
    echo up; sleep ${nap}; sleep ${nap}`
  const half = async () => {
    for (let round = 0; round < rounds / 2; round += 1) {
      const running = await bench.start({ script, shell: 'sh' })
      if (round % 2 === 0) await running.said('up')
      await running.stop({ graceMs: 0 })
      expect(await running.ended).toMatchObject({ type: 'stopped' })
    }
  }
  await Promise.all([half(), half()])
  expect(processesWith(nap)).toEqual([])
  expect(containers()).toBe('')
}, 1_200_000)

async function adopt(marker: string) {
  const next = createContainerRunner({ engine: 'podman' })
  let output = ''
  const sink = (_stream: string, bytes: Buffer) => {
    output += bytes
  }
  return { running: await next.adopt(marker, { sink }), output: () => output }
}

test('another server adopts a container that runs, with all of its output', async () => {
  const runner: AdoptingRunner = createContainerRunner({ engine: 'podman' })
  const marker = newMarker()
  const nap = newNap()
  const script = `trap 'echo bye; exit 4' TERM; echo one; sleep ${nap} & wait`
  let heard = ''
  const sink = (_stream: string, bytes: Buffer) => {
    heard += bytes
  }
  const first = await runner.start({ script, shell: 'sh', marker, env: {}, container: { image: IMAGE } }, { sink })
  await waitFor(() => (heard === 'one\n' ? true : undefined))
  await runner.detach()
  expect(await first.ended).toMatchObject({ type: 'lost' })
  const { running, output } = await adopt(marker)
  await waitFor(() => (output() === 'one\n' ? true : undefined))
  await running?.stop()
  expect(await running?.ended).toMatchObject({ type: 'stopped' })
  expect(output()).toBe('one\nbye\n')
})

test('another server reads the ending of a container that ended meanwhile', async () => {
  const runner = createContainerRunner({ engine: 'podman' })
  const marker = newMarker()
  const script = 'echo one; echo two >&2; printf three; exit 9'
  await runner.start({ script, shell: 'sh', marker, env: {}, container: { image: IMAGE } }, { sink() {} })
  await waitFor(() => (containers() === '' ? undefined : true))
  await runner.detach()
  const status = () => podman('inspect', `millrace-${marker}`, '--format', '{{.State.Status}}').trim()
  await waitFor(() => (status() === 'exited' ? true : undefined))
  const { running, output } = await adopt(marker)
  expect(await running?.ended).toEqual({ type: 'exited', code: 9 })
  expect(output().split('').sort().join('')).toBe('one\ntwo\nthree'.split('').sort().join(''))
  expect((await adopt(marker)).running).toBeUndefined()
})

test('a container that was made and never started is not adopted but removed', async () => {
  const marker = newMarker()
  podman('create', '--label', `millrace.marker=${marker}`, IMAGE, 'true')
  expect((await adopt(marker)).running).toBeUndefined()
})

test('through the death of its server the output of a container is neither lost nor doubled', async () => {
  await using db = await database()
  const marker = newMarker()
  const lines = 30_000
  const script = `i=0; while [ $i -lt ${lines} ]; do echo $i; i=$((i+1)); [ $((i % 1000)) = 0 ] && sleep 0.1; done; exit 6`
  const start = (more: Partial<ContainerProgramSettings>) =>
    runProgram('test/crash/container-program.ts', {
      args: [JSON.stringify({ databaseUrl: db.databaseUrl, marker, image: IMAGE, ...more })],
      env: environment(),
    })
  const first = start({ script })
  await first.line(/^stored /)
  await kill(first)
  const second = start({})
  await second.line(/^stored /)
  await kill(second)
  const third = start({})
  expect(await third.line(/^ended/)).toBe('ended {"type":"exited","code":6}')
  let text = ''
  for (let at = 0; ; ) {
    const piece = await readOutput(db.pool, { task: '1', start: at, limit: 1_000_000 })
    text += piece.bytes
    at = piece.next
    if (piece.isEnd) break
  }
  expect(text === Array.from({ length: lines }, (_, i) => `${i}\n`).join('')).toBe(true)
})

test('containers of dead servers are swept, and those of live ones spared', async () => {
  const prefix = `dead-${newNap()}.`
  const [nap, other] = [newNap(), newNap()]
  const own = await bench.start({ script: `echo up; sleep ${other}`, shell: 'sh', marker: `${prefix}1.1` })
  await own.said('up')
  const format = '{{index .Config.Labels "millrace.runner"}}'
  const live = podman('inspect', `millrace-${prefix}1.1`, '--format', format).trim().split('.')
  const dead = live.with(2, '1').join('.') // the same process number, begun at another time
  podman(
    'run',
    '--detach',
    '--network',
    'none',
    '--label',
    `millrace.marker=${prefix}2.1`,
    '--label',
    `millrace.runner=${dead}`,
    IMAGE,
    'sleep',
    String(nap),
  )
  const lost = ['--label', `millrace.marker=${prefix}3.1`, '--label', `millrace.runner=${dead}`]
  podman('run', '--detach', '--network', 'none', ...lost, IMAGE, 'sleep', String(other))
  const { running: adopted } = await adopt(`${prefix}3.1`)
  expect(await bench.runner.sweepLeftovers(prefix)).toBe(1)
  expect(processesWith(nap)).toEqual([])
  expect(processesWith(other)).not.toEqual([])
  for (const one of [own, adopted]) {
    await one?.stop({ graceMs: 0 })
    expect(await one?.ended).toMatchObject({ type: 'stopped' })
  }
})
