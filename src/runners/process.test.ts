import { readdirSync } from 'node:fs'
import { realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isAlive, waitFor } from '../../test/processes.ts'
import { scratch } from '../../test/scratch.ts'
import { createProcessRunner } from './process.ts'
import { newNap, processesWith, runnerSuite } from './runner.suite.ts'
import { readStat } from './runner-id.ts'

const bench = runnerSuite({ create: () => createProcessRunner(), isExact: true, isHost: true })

test('the keeper is used here', async () => {
  expect(await bench.runner.describe()).toMatchObject({ runner: 'process', isUsable: true, hasExactOrder: true })
})

test('a command that is stopped in the moment of its start hears TERM', async () => {
  const signals = new Set<string | undefined>()
  const rounds = async () => {
    for (let round = 0; round < 40; round += 1) {
      const running = await bench.start({ argv: ['sleep', '1000'] })
      await sleep(round % 8)
      await running.stop({ graceMs: 3_000 })
      signals.add(((await running.ended) as { signal?: string }).signal)
    }
  }
  await Promise.all([rounds(), rounds(), rounds(), rounds()])
  expect(signals).not.toContain('SIGKILL')
  expect(signals).toContain('SIGTERM')
})

test('the order is kept across processes that write in turn', async () => {
  const script = 'for ((i = 0; i < 400; i += 2)); do /bin/echo $i; (echo $((i + 1)) >&2); done'
  const { mixed } = await bench.run({ script })
  expect(mixed).toBe(Array.from({ length: 400 }, (_, i) => `${i}\n`).join(''))
})

test('writes larger than a pipe keep their order, too', async () => {
  const program = 'for my $n (0 .. 99) { syswrite $n % 2 ? STDERR : STDOUT, chr(65 + $n % 26) x 50_000 }'
  const { mixed } = await bench.run({ argv: ['perl', '-e', program] })
  expect(mixed.replaceAll(/(.)\1*/g, (run) => (run.length === 50_000 ? (run[0] ?? '') : '?'))).toBe(
    Array.from({ length: 100 }, (_, n) => String.fromCharCode(65 + (n % 26))).join(''),
  )
})

test('a command runs in its folder, with its umask', async () => {
  await using folder = await scratch()
  const { stdout } = await bench.run({ script: 'pwd; umask; echo x > file', cwd: folder.path, umask: 0o027 })
  expect(stdout).toBe(`${await realpath(folder.path)}\n0027\n`)
  expect((await stat(join(folder.path, 'file'))).mode & 0o777).toBe(0o640)
})

test('a folder that is not there is told from a program that is not there', async () => {
  const { ending } = await bench.run({ argv: ['true'], cwd: '/no/such/folder' })
  expect(ending).toEqual({ type: 'spawn_failed', errno: 'ENOENT', reason: 'no such folder to run in: /no/such/folder' })
})

test('a script that names no interpreter, or one that is not there, is told', async () => {
  await using folder = await scratch()
  const file = join(folder.path, 'script')
  await writeFile(file, '#!/no/such/interpreter\n', { mode: 0o755 })
  expect((await bench.run({ argv: [file] })).ending).toMatchObject({ type: 'spawn_failed', errno: 'ENOENT' })
  const long = await bench.run({ argv: ['true', 'x'.repeat(200_000)] })
  expect(long.ending).toMatchObject({ type: 'spawn_failed', errno: 'E2BIG' })
})

test('a command has descriptors 0 to 2, a session of its own and no signal blocked or ignored', async () => {
  const { stdout } = await bench.run({ argv: ['sh', '-c', 'ls /proc/$$/fd; ps -o sid= -p $$; echo $$'] })
  const [zero, one, two, session, pid, ...more] = stdout.trim().split(/\n\s*/)
  expect([zero, one, two, ...more]).toEqual(['0', '1', '2'])
  expect(session).toBe(pid)
  const signals = await bench.run({ argv: ['grep', '^Sig[BI]', '/proc/self/status'] })
  expect(signals.stdout).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n')
})

test('limits are set', async () => {
  const limits = { openFiles: 40, fileSizeBytes: 100_000, cpuSeconds: 1 }
  const { stdout } = await bench.run({ script: 'ulimit -n -f -t', limits })
  expect(stdout.split('\n').map((line) => line.replace(/.* /, ''))).toEqual(['40', '97', '1', ''])
  const busy = await bench.run({ script: 'while :; do :; done', limits: { cpuSeconds: 1 } })
  expect(busy.ending).toMatchObject({ type: 'signaled', signal: 'SIGXCPU' })
  await using folder = await scratch()
  const full = await bench.run({
    script: 'head -c 1000000 /dev/zero > file',
    limits: { fileSizeBytes: 5000 },
    cwd: folder.path,
  })
  expect(full.ending).not.toEqual({ type: 'exited', code: 0 })
  expect((await stat(join(folder.path, 'file'))).size).toBe(5000)
})

test('a command that wants more memory than it may have does not get it', async () => {
  const argv = ['perl', '-e', 'my $x = "x" x 300_000_000; print length $x'] as const
  expect((await bench.run({ argv: [...argv] })).stdout).toBe('300000000')
  const { ending, stdout } = await bench.run({ argv: [...argv], limits: { memoryBytes: 100_000_000 } })
  expect(stdout).toBe('')
  expect(ending).not.toEqual({ type: 'exited', code: 0 })
})

test('a command that wants more processes than it may have does not get them', async () => {
  const nap = newNap()
  const script = `for i in 1 2 3 4 5 6 7 8 9; do sleep ${nap} & done; echo started`
  const { stderr } = await bench.run({ script, shell: 'sh', limits: { processes: 5 }, graceMs: 100 })
  expect(stderr).toMatch(/cannot fork/i)
  expect(processesWith(nap)).toEqual([])
})

test('what a stopped command prints when it is asked to go arrives in order', async () => {
  const running = await bench.start({
    script: `trap 'echo 2 >&2; echo 3; exit' TERM; echo 1; sleep ${newNap()} & wait`,
  })
  await running.said('1')
  await running.stop()
  await running.ended
  expect(running.output()).toBe('1\n2\n3\n')
})

test('a process that goes through generations faster than one can look is caught', async () => {
  const nap = newNap()
  // Each generation is a session and a group of its own and lives for less than a millisecond.
  const program = `$SIG{TERM} = 'IGNORE'; use POSIX; $0 = "comet ${nap}"; print "up\\n"; close STDOUT; for (;;) { setsid(); fork and POSIX::_exit(0) }`
  const running = await bench.start({ argv: ['perl', '-e', program] })
  await running.said('up')
  await running.ended
  expect(processesWith(nap)).toEqual([])
})

const keeperOf = (marker: string) =>
  waitFor(
    () =>
      processesWith(`millrace keeper`)
        .find((line) => line.includes(marker))
        ?.split(' ')[0],
  )

test('a command whose keeper is killed is lost, and nothing of it is left', async () => {
  const nap = newNap()
  const running = await bench.start({
    script: `trap '' TERM; (env -i setsid sh -c "trap '' TERM; (sleep ${nap}; :) >/dev/null 2>&1 &"); echo up; sleep ${nap}`,
  })
  await running.said('up')
  process.kill(Number(await keeperOf(running.marker)), 'SIGKILL')
  expect(await running.ended).toEqual({ type: 'lost', reason: 'the process that watched the command was killed' })
  await waitFor(() => (processesWith(nap).length === 0 ? true : undefined))
  expect((await bench.run({ argv: ['true'] })).ending).toEqual({ type: 'exited', code: 0 })
})

test('a spawner that is killed is replaced, and what runs goes on', async () => {
  await using runner = { ...createProcessRunner(), [Symbol.asyncDispose]: () => runner.close() }
  let output = ''
  const sink = (_stream: string, bytes: Buffer) => {
    output += bytes
  }
  const env = { PATH: '/usr/bin:/bin' }
  const nap = newNap()
  const script = `trap 'echo bye; exit' TERM; echo up ${nap}; sleep ${nap} & wait`
  const first = await runner.start({ script, env, marker: 'spawner.1' }, { sink })
  await waitFor(() => (output.includes('up') ? true : undefined))
  const keeper = Number(await keeperOf('spawner.1'))
  const spawner = readStat(keeper)?.parent ?? 0
  process.kill(spawner, 'SIGKILL')
  await waitFor(() => (isAlive(spawner) ? undefined : true))
  const second = await runner.start({ argv: ['true'], env, marker: 'spawner.2' }, { sink })
  expect(await second.ended).toEqual({ type: 'exited', code: 0 })
  await first.stop()
  expect(await first.ended).toEqual({ type: 'stopped' })
  expect(output).toBe(`up ${nap}\nbye\n`)
})

test('a runner whose folder somebody removed makes another', async () => {
  await using runner = { ...createProcessRunner(), [Symbol.asyncDispose]: () => runner.close() }
  await runner.describe()
  const before = foldersHere()
  const env = { PATH: '/bin' }
  const running = await runner.start({ script: 'echo up; sleep 0.2', env, marker: 'folder.1' }, { sink() {} })
  for (const name of before) await rm(join(tmpdir(), name), { recursive: true })
  const others = [2, 3].map(async (n) => {
    const other = await runner.start({ argv: ['true'], env, marker: `folder.${n}` }, { sink() {} })
    return other.ended
  })
  expect(await Promise.all([running.ended, ...others])).toEqual(Array(3).fill({ type: 'exited', code: 0 }))
  expect((await bench.run({ argv: ['true'] })).ending).toEqual({ type: 'exited', code: 0 })
})

test('a closed runner leaves no process, no folder and no control group', async () => {
  const foldersBefore = foldersHere()
  const runner = createProcessRunner()
  const nap = newNap()
  const io = { sink: () => {} }
  const groups = (await runner.describe()).notes.join().match(/ in (.*)$/)?.[1]
  const running = await Promise.all(
    [1, 2, 3].map((n) =>
      runner.start({ script: `trap '' TERM; sleep ${nap}; :`, env: { PATH: '/bin' }, marker: `close.${n}` }, io),
    ),
  )
  await waitFor(() => (processesWith(nap).length >= 6 ? true : undefined))
  const ids = processesWith('millrace spawner').map((line) => line.split(' ')[3])
  await runner.close()
  expect(processesWith(nap)).toEqual([])
  expect(await Promise.all(running.map((one) => one.ended))).toMatchObject(running.map(() => ({ type: 'stopped' })))
  await expect(runner.start({ argv: ['true'], env: {}, marker: 'close.4' }, io)).rejects.toThrow('closed')
  if (groups !== undefined) await waitFor(() => (tryRead(groups) === undefined ? true : undefined))
  expect(ids.length).toBeGreaterThan(0)
  expect(foldersHere()).toEqual(foldersBefore)
})

const foldersHere = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('millrace-') && name.includes(`.${process.pid}.`))

function tryRead(folder: string): string[] | undefined {
  try {
    return readdirSync(folder)
  } catch {
    return undefined
  }
}
