// Commands under hostile circumstances: servers, keepers and databases that die, scripts that do not want to.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { unprivilegedOwner } from '../../src/db/embedded-owner.ts'
import { createPool, migrate } from '../../src/db/index.ts'
import { createProcessRunner } from '../../src/runners/index.ts'
import { newNap, processesWith, useRunner } from '../../src/runners/runner.suite.ts'
import { createOutputWriter, outputSize, readOutput } from '../../src/storage/index.ts'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { durableCluster } from './cluster.ts'
import { kill } from './kit.ts'
import type { RunnerProgramSettings } from './runner-program.ts'

const bench = useRunner({ create: () => createProcessRunner() })

/** Children that ignore TERM, fork twice, leave group and session, and wipe their environment. */
const torture = (nap: number) => `
  trap '' TERM
  set -m
  (trap '' TERM; sleep ${nap}; :) &
  (setsid sleep ${nap} >/dev/null 2>&1 </dev/null &)
  (env -i setsid sh -c "(trap '' TERM; sleep ${nap}; :) >/dev/null 2>&1 &")
  setsid sh -c '(sleep ${nap} &) ; sleep ${nap}' &
  perl -e 'setpgrp; $SIG{TERM} = "IGNORE"; fork; sleep 1 while 1; # ${nap}' &
  echo up
  sleep ${nap}; sleep ${nap}
`
const none = (nap: number) => waitFor(() => (processesWith(nap).length === 0 ? true : undefined))

test('many commands that do not want to end leave no process', async () => {
  const rounds = async (n: number) => {
    const nap = newNap()
    for (let round = 0; round < n; round += 1) {
      const running = await bench.start({ script: torture(nap) })
      // Some are stopped in the middle of their starting.
      if (round % 3 > 0) await running.said('up')
      await running.stop({ graceMs: round % 5 === 0 ? 50 : 0 })
      expect(await running.ended).toMatchObject({ type: 'stopped' })
      // At once, each time: what would go by itself a moment later is a survivor, too.
      expect(processesWith(nap), `round ${round}`).toEqual([])
    }
  }
  await Promise.all(Array.from({ length: 4 }, () => rounds(inForm(15, 50))))
}, 300_000)

test('ten megabytes in small writes keep their order across stdout and stderr', async () => {
  // Numbered lines of random length to a random stream, each by one write.
  const program = `
    for my $n (0 .. 199_999) {
      my $line = sprintf "%d %s\\n", $n, "x" x rand 90;
      syswrite rand() < 0.5 ? STDOUT : STDERR, $line;
    }`
  const { mixed, stdout, stderr, ending } = await bench.run({ argv: ['perl', '-e', program] })
  expect(ending).toEqual({ type: 'exited', code: 0 })
  expect(mixed.length).toBeGreaterThan(10_000_000)
  const numbers = mixed.split('\n').map((line) => Number.parseInt(line, 10))
  expect(numbers.findIndex((number, i) => number !== i)).toBe(200_000)
  expect(Math.min(stdout.length, stderr.length)).toBeGreaterThan(4_000_000)
})

async function startProgram(
  settings: RunnerProgramSettings,
  owner = undefined as ReturnType<typeof unprivilegedOwner>,
) {
  const program = runProgram('test/crash/runner-program.ts', { args: [JSON.stringify(settings)], owner })
  await program.line(/^up$/)
  return program
}

test('nothing outlives a server that is killed', async () => {
  const nap = newNap()
  const scripts = Array.from({ length: 4 }, () => torture(nap))
  await using program: Program = await startProgram({ scripts, prefix: `outlive-${nap}.`, graceMs: 300 })
  expect(processesWith(nap).length).toBeGreaterThan(20)
  await kill(program)
  await none(nap)
  await waitFor(() => (processesWith(`.${program.pid}.`).length === 0 ? true : undefined)) // spawner and keepers
})

test('what a server, its spawner and its keepers leave when all are killed at once is swept by the next', async () => {
  const nap = newNap()
  const prefix = `leftover-${newNap()}.`
  const scripts = Array.from({ length: 3 }, () => torture(nap))
  await using program: Program = await startProgram({ scripts, prefix, graceMs: 300 })
  const keepers = processesWith(`.${program.pid}.`).map((line) => Number(line.split(' ')[0]))
  expect(keepers.length).toBeGreaterThan(3)
  for (const pid of [...keepers, program.pid]) process.kill(pid, 'SIGSTOP')
  for (const pid of [...keepers, program.pid]) process.kill(pid, 'SIGKILL')
  await program.exitCode
  expect(processesWith(nap).length).toBeGreaterThan(10)
  const next = createProcessRunner()
  expect(await next.sweepLeftovers('another-prefix')).toBe(0)
  await next.sweepLeftovers(prefix)
  await none(nap)
  await next.close()
})

test('an ordinary user, without control groups, leaves no process either', async () => {
  const owner = unprivilegedOwner()
  const nap = newNap()
  const scripts = Array.from({ length: 2 }, () => torture(nap))
  await using program: Program = await startProgram({ scripts, prefix: `ordinary-${nap}.`, graceMs: 300 }, owner)
  expect(processesWith(nap).length).toBeGreaterThan(10)
  await kill(program)
  await none(nap)
})

test('output goes on through restarts of the database, and nothing is lost or doubled', async () => {
  await using cluster = await durableCluster()
  const pool = createPool({ databaseUrl: cluster.databaseUrl })
  await migrate(pool)
  const of = { task: '1', attempt: 1 }
  const writer = createOutputWriter({ pool, ...of })
  const script = 'i=0; while [ $i -lt 60000 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done'
  const running = await bench.start({ script }, (stream, bytes) => writer.write(stream, bytes))
  for (const how of ['crash', 'fast', 'immediate', 'crash'] as const) {
    await sleep(150 + Math.random() * 300)
    await (how === 'crash' ? cluster.crash() : cluster.stop(how))
    await sleep(Math.random() * 300)
    await cluster.start()
  }
  expect(await running.ended).toEqual({ type: 'exited', code: 0 })
  await writer.close()
  let text = ''
  for (let start = 0; ; ) {
    const piece = await readOutput(pool, { ...of, start, limit: 1_000_000 })
    text += piece.bytes
    start = piece.next
    if (piece.isEnd) break
  }
  expect(text === Array.from({ length: 60_000 }, (_, i) => `${i}\n`).join('')).toBe(true)
  expect((await outputSize(pool, of)).mixed).toBe(text.length)
  await pool.end()
})
