// What every runner promises. The scripts are plain sh, because a container may have nothing else.
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isAlive, waitFor } from '../../test/processes.ts'
import { type CommandSpec, type Ending, markerOf, type Runner, type Running, type Stream } from './index.ts'

export type SuiteOptions = {
  readonly create: () => Promise<Runner> | Runner
  /** What each command needs besides, such as an image. */
  readonly base?: Partial<CommandSpec>
  /** The order of output is exact across stdout and stderr. */
  readonly isExact: boolean
  /** Without a keeper some things cannot be had: see plain.ts. */
  readonly isPlain?: boolean
  /** Commands run in the file system of this host, with the limits that it can set. */
  readonly isHost: boolean
}

export type Ran = { readonly ending: Ending; readonly stdout: string; readonly stderr: string; readonly mixed: string }

export type Bench = {
  readonly runner: Runner
  start(command: Partial<CommandSpec>, sink?: (stream: Stream, bytes: Buffer) => Promise<void> | void): Promise<Started>
  run(command: Partial<CommandSpec>): Promise<Ran>
}

export type Started = Running & { output(): string; said(text: string): Promise<true> }

let markers = 0
export const newMarker = () => {
  markers += 1
  return markerOf(`suite-${process.pid}-`, String(markers), 1)
}

/**
 * Collects garbage now, so that what memory is measured is what is held. Buffers are given back by another thread, which a
 * busy machine keeps waiting: a second collection waits for it.
 */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    collect()
  }
}

/** So many seconds that no other process sleeps: by it the processes of one test are found. */
export const newNap = () => randomInt(10_000_000, 99_999_999)

/** Processes, wherever they are, whose command line has the text. */
export function processesWith(text: string | number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isAlive(Number(name)))
    .map((pid) => `${pid} ${readCommandLine(pid)}`)
    .filter((line) => line.includes(String(text)))
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** A runner of the test file's own, closed in the end. */
export function useRunner(options: Pick<SuiteOptions, 'create' | 'base'>): Bench {
  let runner: Runner
  beforeAll(async () => {
    runner = await options.create()
  })
  afterAll(() => runner.close())

  const bench: Bench = {
    get runner() {
      return runner
    },
    async start(command, sink = () => {}) {
      let output = ''
      const whole = { marker: newMarker(), env: { PATH: '/usr/bin:/bin' }, ...options.base, ...command } as CommandSpec
      const running = await runner.start(whole, {
        sink(stream, bytes) {
          output += bytes.toString('latin1')
          return sink(stream, bytes)
        },
      })
      return {
        marker: running.marker,
        ended: running.ended,
        stop: (grace?: { graceMs?: number }) => running.stop(grace),
        output: () => output,
        said: (text: string) => waitFor(() => (output.includes(text) ? (true as const) : undefined)),
      }
    },
    async run(command) {
      const said = { stdout: '', stderr: '', mixed: '' }
      const running = await bench.start(command, (stream, bytes) => {
        said[stream] += bytes.toString('latin1')
        said.mixed += bytes.toString('latin1')
      })
      return { ending: await running.ended, ...said }
    },
  }
  return bench
}

const sh = (script: string): Partial<CommandSpec> => ({ script, shell: 'sh' })

export function runnerSuite(options: SuiteOptions): Bench {
  const bench = useRunner(options)
  testEndings(bench, options)
  testSurroundings(bench, options)
  testOutput(bench, options)
  testStopping(bench, options)
  return bench
}

function testEndings(bench: Bench, { isHost }: SuiteOptions): void {
  test('a command that exits is told by its code', async () => {
    expect((await bench.run(sh('exit 0'))).ending).toEqual({ type: 'exited', code: 0 })
    expect((await bench.run(sh('exit 42'))).ending).toEqual({ type: 'exited', code: 42 })
    expect((await bench.run({ argv: ['false'] })).ending).toEqual({ type: 'exited', code: 1 })
  })

  test('a command that dies by a signal is told by the signal', async () => {
    const { ending } = await bench.run(sh('kill -KILL $$; sleep 60'))
    // Inside a container the init process turns it into a code, as shells do.
    expect(ending).toMatchObject(isHost ? { type: 'signaled', signal: 'SIGKILL' } : { type: 'exited', code: 137 })
  })

  test('a program that is not there is no exit code', async () => {
    const { ending } = await bench.run({ argv: ['no-such-program-here'] })
    expect(ending).toMatchObject({ type: 'spawn_failed', errno: 'ENOENT' })
    expect((ending as { reason: string }).reason).toContain('no-such-program-here')
    expect((await bench.run(sh('exit 127'))).ending).toEqual({ type: 'exited', code: 127 })
  })

  test('a program that may not be executed is told from one that is not there', async () => {
    const { ending } = await bench.run({ argv: ['/etc/passwd'] })
    expect(ending).toMatchObject({ type: 'spawn_failed', errno: 'EACCES' })
  })

  test('a command that takes too long is stopped', async () => {
    const nap = newNap()
    const running = await bench.start({
      ...sh(`trap '' TERM; echo up; sleep ${nap}; sleep ${nap}`),
      timeoutMs: 3000,
      graceMs: 100,
    })
    expect(await running.ended).toEqual({ type: 'timed_out', afterMs: 3000, signal: 'SIGKILL' })
    expect(running.output()).toBe('up\n')
    expect(processesWith(nap)).toEqual([])
  })

  test('what cannot be meant is refused', async () => {
    const refused = { code: 'invalid_command' }
    await expect(bench.start({ argv: [''] })).rejects.toMatchObject(refused)
    await expect(bench.start({ argv: ['echo', 'a\0b'] })).rejects.toMatchObject(refused)
    await expect(bench.start({ argv: ['env'], env: { 'A=B': '' } })).rejects.toMatchObject(refused)
    await expect(bench.start({ argv: ['env'], marker: 'two words' })).rejects.toMatchObject(refused)
    await expect(bench.start({ argv: ['env'], timeoutMs: -1 })).rejects.toMatchObject(refused)
  })
}

function testSurroundings(bench: Bench, { isHost, isPlain }: SuiteOptions): void {
  test('arguments arrive as they are, without any shell', async () => {
    const words = ['a b', '$HOME', '*', '', 'é\n"\'']
    const { stdout } = await bench.run({ argv: ['printf', '<%s>', ...words] })
    expect(Buffer.from(stdout, 'latin1').toString()).toBe(words.map((word) => `<${word}>`).join(''))
  })

  test('the environment is what was given, and nothing of the server', async () => {
    process.env['SERVERS_OWN'] = 'secret'
    const odd = isPlain ? {} : { 'ODD.NAME': '1' }
    const given = { PATH: '/usr/bin:/bin', EMPTY: '', LINES: 'a\nb = "c" #d', SPACES: '  x  ', ...odd }
    const { stdout } = await bench.run({ argv: ['env', '-0'], env: given, marker: 'suite-env.1' })
    const found = Object.fromEntries(
      stdout
        .split('\0')
        .filter((entry) => entry !== '')
        .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )
    expect(found).toMatchObject({ ...given, MILLRACE_MARKER: 'suite-env.1', MILLRACE_RUNNER: expect.any(String) })
    expect(found).not.toHaveProperty('SERVERS_OWN')
    const more = Object.keys(found).filter((name) => !(name in given) && !name.startsWith('MILLRACE_'))
    // The shell in between has one of its own.
    if (isHost) expect(more).toEqual(isPlain ? ['PWD'] : [])
  })

  test('stdin is at its end', async () => {
    expect(await bench.run(sh('cat; echo over'))).toMatchObject({ stdout: 'over\n', ending: { code: 0 } })
  })
}

function testOutput(bench: Bench, { isExact, isPlain }: SuiteOptions): void {
  test('stdout and stderr are told apart', async () => {
    const { stdout, stderr } = await bench.run(sh('echo one; echo two >&2; echo three; printf four >&2'))
    expect({ stdout, stderr }).toEqual({ stdout: 'one\nthree\n', stderr: 'two\nfour' })
  })

  test('bytes that are no text arrive as they are', async () => {
    const { stdout } = await bench.run(sh(String.raw`printf '\377\376\000\001\200line\r\n\303'; printf 'end'`))
    expect(stdout).toBe('\xff\xfe\0\x01\x80line\r\n\xc3end')
  })

  test('output without a newline at its end arrives as it is', async () => {
    expect((await bench.run(sh('printf abc'))).stdout).toBe('abc')
    expect((await bench.run(sh('echo abc'))).stdout).toBe('abc\n')
    expect((await bench.run(sh('printf "abc\\n\\n"'))).stdout).toBe('abc\n\n')
    expect((await bench.run(sh('true'))).stdout).toBe('')
  })

  test('what is written last before the end is not lost', async () => {
    const { stdout, stderr } = await bench.run(
      sh('i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done; echo last >&2; kill -KILL $$'),
    )
    expect(stdout.split('\n')).toHaveLength(2001)
    expect(stderr).toBe('last\n')
  })

  test('a megabyte arrives whole, also of one line', async () => {
    const { stdout } = await bench.run(sh('head -c 1000000 /dev/zero | tr "\\0" x'))
    expect(stdout.length).toBe(1_000_000)
    expect(/^x+$/.test(stdout)).toBe(true)
  })

  test('a slow reader lets the command wait, and memory stays flat', async () => {
    let [most, bytes, looks] = [0, 0, 0]
    const collect = collector()
    const held = () => {
      collect()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    const running = await bench.start({ argv: ['head', '-c', '40000000', '/dev/zero'] }, async (_stream, piece) => {
      bytes += piece.length
      for (let i = 0; i < 5; i += 1) await turn()
      if (bytes < looks * 4_000_000) return
      looks += 1
      most = Math.max(most, held() - before)
    })
    expect(await running.ended).toEqual({ type: 'exited', code: 0 })
    expect(bytes).toBe(40_000_000)
    expect(looks).toBeGreaterThan(5)
    expect(most).toBeLessThan(2_000_000)
  })

  test('a reader that throws stops the command, and the ending says so', async () => {
    const nap = newNap()
    const running = await bench.start(sh(`echo up; sleep ${nap}`), () => {
      throw new Error('the disk is full')
    })
    await expect(running.ended).rejects.toThrow('the disk is full')
    expect(processesWith(nap)).toEqual([])
  })

  if (isPlain) return
  test('a redirection to /dev/stderr or /dev/stdout works', async () => {
    const script = 'echo a >/dev/stderr; echo b >/dev/stdout; (echo c >/dev/stderr); sh -c "echo d >>/dev/stdout"'
    expect(await bench.run(sh(script))).toMatchObject({ stdout: 'b\nd\n', stderr: 'a\nc\n', ending: { code: 0 } })
  })

  if (!isExact) return
  test('the order of stdout and stderr is that of the writes', async () => {
    const { mixed } = await bench.run(
      sh('i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done'),
    )
    expect(mixed).toBe(Array.from({ length: 3000 }, (_, i) => `${i}\n`).join(''))
  })
}

function testStopping(bench: Bench, { isPlain }: SuiteOptions): void {
  const stopped = { type: 'stopped' }

  test('a command that is stopped before it began does not begin', async () => {
    const nap = newNap()
    const running = await bench.start(sh(`sleep ${nap}`))
    await running.stop({ graceMs: 100 })
    expect(processesWith(nap)).toEqual([])
    expect(await running.ended).toMatchObject(stopped)
  })

  test('a command may end by itself when it is asked to, and what it says then is kept', async () => {
    const nap = newNap()
    const running = await bench.start(sh(`trap 'echo bye; exit 3' TERM; echo up; sleep ${nap} & wait`))
    await running.said('up')
    await running.stop({ graceMs: 20_000 })
    expect(processesWith(nap)).toEqual([])
    expect(await running.ended).toEqual(stopped)
    expect(running.output()).toBe('up\nbye\n')
  })

  test('a command that ignores TERM is killed after the grace', async () => {
    const nap = newNap()
    const running = await bench.start(sh(`trap '' TERM; echo up; sleep ${nap}; sleep ${nap}`))
    await running.said('up')
    await running.stop({ graceMs: 100 })
    expect(processesWith(nap)).toEqual([])
    expect(await running.ended).toEqual({ ...stopped, signal: 'SIGKILL' })
  })

  test('grandchildren, other groups and other sessions end with it', async () => {
    const nap = newNap()
    const running = await bench.start(
      sh(`
        set -m
        trap '' TERM
        (trap '' TERM; (sleep ${nap}) & sleep ${nap}) &
        setsid sh -c '(trap "" TERM; sleep ${nap}; :) & sleep ${nap}' &
        (setsid sleep ${nap} >/dev/null 2>&1 </dev/null &)
        sleep 0.2; echo up; wait
      `),
    )
    await running.said('up')
    await running.stop({ graceMs: 100 })
    expect(processesWith(nap)).toEqual([])
    expect(await running.ended).toMatchObject(stopped)
  })

  test('what a command leaves behind ends with it', async () => {
    const nap = newNap()
    const { ending, stdout } = await bench.run({
      ...sh(`sleep ${nap} & setsid sleep ${nap} & (trap '' TERM; sleep ${nap}; sleep ${nap}) & echo over; exit 5`),
      graceMs: 200,
    })
    expect(processesWith(nap)).toEqual([])
    expect({ ending, stdout }).toEqual({ ending: { type: 'exited', code: 5 }, stdout: 'over\n' })
  })

  test('to stop what has ended is harmless', async () => {
    const running = await bench.start(sh('exit 7'))
    expect(await running.ended).toEqual({ type: 'exited', code: 7 })
    await running.stop()
    expect(await running.ended).toEqual({ type: 'exited', code: 7 })
  })

  test('a command is gone when stop says so, though its reader is stuck', async () => {
    const nap = newNap()
    let release = () => {}
    const stuck = new Promise<void>((resolve) => {
      release = resolve
    })
    const running = await bench.start(sh(`trap '' TERM; while :; do echo ${nap}; done`), () => stuck)
    await running.said('\n')
    await running.stop({ graceMs: 100 })
    expect(processesWith(nap)).toEqual([])
    release()
    expect(await running.ended).toMatchObject(stopped)
  })

  test('a sweep ends what carries the marker, and nothing else', async () => {
    const [nap, other] = [newNap(), newNap()]
    const prefix = `sweep-${newNap()}.`
    const meant = await bench.start({ ...sh(`echo up; sleep ${nap} & wait`), marker: `${prefix}1` })
    const spared = await bench.start({ ...sh(`echo up; sleep ${other} & wait`), marker: `${prefix}10` })
    await Promise.all([meant.said('up'), spared.said('up')])
    expect(await bench.runner.sweepLeftovers(prefix)).toBe(0)
    expect(await bench.runner.sweep({ marker: `${prefix}1` })).toBeGreaterThan(0)
    expect(processesWith(nap)).toEqual([])
    expect(processesWith(other)).not.toEqual([])
    expect((await meant.ended).type).toMatch(/^(lost|signaled|exited)$/)
    expect(await bench.runner.sweep({ prefix })).toBeGreaterThan(0)
    expect(processesWith(other)).toEqual([])
    await spared.ended
  })

  if (isPlain) return
  test('what wipes its environment, leaves its session and loses its parent ends with it', async () => {
    const nap = newNap()
    const running = await bench.start(
      sh(`(env -i setsid sh -c "(trap '' TERM; sleep ${nap}; :) >/dev/null 2>&1 &"); sleep 0.2; echo up; sleep ${nap}`),
    )
    await running.said('up')
    expect(processesWith(nap)).not.toEqual([])
    await running.stop({ graceMs: 100 })
    expect(processesWith(nap)).toEqual([])
    expect(await running.ended).toMatchObject(stopped)
  })

  test('processes that go on forking are caught', async () => {
    const nap = newNap()
    const running = await bench.start(
      sh(`
        trap '' TERM
        fork() { sh -c 'trap "" TERM; while :; do sleep ${nap} & sleep 0.02; done' & }
        fork; fork; fork
        echo up; wait
      `),
    )
    await running.said('up')
    await running.stop({ graceMs: 100 })
    expect(processesWith(nap)).toEqual([])
    expect(await running.ended).toMatchObject(stopped)
  })
}
