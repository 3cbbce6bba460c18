// Commands without a keeper, where there is no Linux or no Perl: a process group of their own, two ordinary pipes, and
// a sweep by marker and session. The order of output is exact within each stream and a guess across the two; what wipes
// its environment, makes a session of its own and loses its parent is not found; on Linux a script cannot open /dev/stdout
// and /dev/stderr, because Node's pipes are sockets there; the shell that sets limits drops variables it has no name for.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { constants as system } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CheckedCommand, checkCommand, GRACE_MS } from './command.ts'
import { spawnFailure } from './ending.ts'
import { type Asked, endingAsked, Life, toLost } from './life.ts'
import type { CommandLimits, Ending, Runner, RunnerIo, Running } from './runner.ts'
import { newRunnerId } from './runner-id.ts'
import { sweep, sweepLeftovers, sweepSession } from './sweep.ts'

const LEFT_MS = 2_000 // between TERM and KILL for what a command leaves behind
const LOOK_MS = 20
const CLOSE_MS = 500 // for pipes that somebody holds who is not of the command

export function createPlainRunner(options: { readonly why?: string } = {}): Runner {
  const running = new Set<Running>()
  const runnerId = newRunnerId()
  return {
    async start(spec, io) {
      const command = checkCommand(spec)
      const env = { ...command.env, MILLRACE_MARKER: command.marker, MILLRACE_RUNNER: runnerId }
      const started = new PlainCommand({ ...command, env }, io)
      running.add(started)
      const forget = () => running.delete(started)
      started.ended.then(forget, forget)
      return started
    },
    sweep,
    sweepLeftovers,
    async describe() {
      const notes = [
        ...(options.why === undefined ? [] : [options.why]),
        'order is exact within stdout and within stderr, and approximate across them',
        'a process that wipes its environment and leaves its session is not found when its command is stopped',
        'scripts cannot open /dev/stdout and /dev/stderr on Linux: they can write >&2',
      ]
      return { runner: 'plain', isUsable: true, hasExactOrder: false, notes }
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop({ graceMs: 0 })))
    },
  }
}

class PlainCommand implements Running {
  readonly marker: string
  readonly #command: CheckedCommand
  readonly #life: Life
  #child: ChildProcessByStdio<null, Readable, Readable> | undefined
  #isEnding = false

  constructor(command: CheckedCommand, io: RunnerIo) {
    this.#command = command
    this.marker = command.marker
    this.#life = new Life(io.sink, () => void this.stop({ graceMs: 0 }))
    void this.#begin()
  }

  get ended(): Promise<Ending> {
    return this.#life.ended
  }

  stop({ graceMs = GRACE_MS } = {}): Promise<void> {
    this.#ask({ type: 'stopped' }, graceMs)
    return this.#life.gone
  }

  async #begin(): Promise<void> {
    const command = this.#command
    const failure = await findFailure(command)
    if (this.#life.isGone) return
    if (failure !== undefined) return this.#life.finish(failure)
    const setUp = `${limitWords(command.limits)} umask ${command.umask.toString(8)} && exec "$@"`
    const child = spawn('/bin/sh', ['-c', setUp, 'sh', ...command.argv], {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#life.delivery.from({
      pause: () => [child.stdout, child.stderr].map((stream) => stream.pause()),
      resume: () => [child.stdout, child.stderr].map((stream) => stream.resume()),
    })
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (bytes: Buffer) => this.#life.delivery.push(stream, bytes))
    child.once('error', (error: NodeJS.ErrnoException) =>
      this.#life.finish(spawnFailure(command, 'fork', -(error.errno ?? 0))),
    )
    child.once('exit', (code, signal) => void this.#end(code, signal))
    const { timeoutMs, graceMs } = command
    if (timeoutMs !== undefined)
      this.#life.after(timeoutMs, () => this.#ask({ type: 'timed_out', afterMs: timeoutMs }, graceMs))
  }

  #ask(asked: Asked, graceMs: number): void {
    if (this.#life.isGone) return
    if (!this.#isEnding) this.#life.asked ??= asked
    const pid = this.#child?.pid
    if (pid === undefined) {
      this.#life.finish(asked)
      return
    }
    this.#life.delivery.allow(Number.POSITIVE_INFINITY)
    this.#signal('SIGTERM')
    // What does not go even then is found again, and told of, when the first process has ended.
    this.#life.after(graceMs, () => void sweepSession(pid, this.marker).catch(() => {}))
  }

  /** The first process has ended: what it leaves behind is asked to go, and then made to. */
  async #end(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    this.#isEnding = true
    const ending: Ending = signal === null ? { type: 'exited', code: code ?? 0 } : { type: 'signaled', signal }
    this.#signal('SIGTERM')
    const deadline = Date.now() + Math.min(this.#command.graceMs, LEFT_MS)
    while (this.#signal(0) && Date.now() < deadline) await sleep(LOOK_MS)
    const problem = await sweepSession(this.#child?.pid ?? -1, this.marker).then(() => undefined, toLost)
    await this.#closePipes()
    this.#life.finish(problem ?? endingAsked(this.#life.asked, ending))
  }

  async #closePipes(): Promise<void> {
    const closed = [this.#child?.stdout, this.#child?.stderr].map(
      (stream) => new Promise<void>((resolve) => (stream?.closed ? resolve() : stream?.once('close', () => resolve()))),
    )
    // Whoever holds a pipe and is not of the command: of it nothing is waited for.
    this.#life.delivery.allow(Number.POSITIVE_INFINITY)
    await Promise.race([Promise.all(closed), sleep(CLOSE_MS)])
    this.#child?.stdout.destroy()
    this.#child?.stderr.destroy()
  }

  /** To the whole group; answers whether there is one. */
  #signal(name: NodeJS.Signals | 0): boolean {
    const pid = this.#child?.pid
    if (pid === undefined) return false
    try {
      return process.kill(-pid, name === 0 ? 0 : system.signals[name])
    } catch {
      return false
    }
  }
}

/** The shell in between would hide what does not work in an exit code. */
async function findFailure(command: CheckedCommand): Promise<Ending | undefined> {
  const folder = await stat(command.cwd).catch(() => undefined)
  if (folder === undefined) return spawnFailure(command, 'cwd', system.errno.ENOENT)
  if (!folder.isDirectory()) return spawnFailure(command, 'cwd', system.errno.ENOTDIR)
  const program = command.argv[0] ?? ''
  const folders = program.includes('/') ? [''] : (command.env['PATH'] ?? '/usr/bin:/bin').split(':')
  let errno: number = system.errno.ENOENT
  for (const place of folders) {
    const path = resolve(command.cwd, isAbsolute(program) ? program : join(place, program))
    if (!(await stat(path).catch(() => undefined))?.isFile()) continue
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return undefined
    errno = system.errno.EACCES
  }
  return spawnFailure(command, 'program', errno)
}

function limitWords({ memoryBytes, cpuSeconds, processes, openFiles, fileSizeBytes }: CommandLimits): string {
  const words = [
    memoryBytes && `ulimit -v ${Math.ceil(memoryBytes / 1024)};`,
    cpuSeconds && `ulimit -t ${cpuSeconds};`,
    processes && `ulimit -p ${processes} 2>/dev/null || ulimit -u ${processes} 2>/dev/null;`,
    openFiles && `ulimit -n ${openFiles};`,
    fileSizeBytes && `ulimit -f ${Math.ceil(fileSizeBytes / 512)};`,
  ]
  return words.filter(Boolean).join(' ')
}
