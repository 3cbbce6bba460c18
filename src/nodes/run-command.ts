import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from '../db/index.ts'
import { WorkStopped } from '../engine/index.ts'
import {
  type AdoptingRunner,
  type CommandSpec,
  type Ending,
  markerOf,
  type Runner,
  type Running,
} from '../runners/index.ts'
import { createOutputWriter, type OutputWriter } from '../storage/index.ts'
import type { Begun } from './begin.ts'
import { refuseLost } from './failure.ts'
import type { Spec } from './spec.ts'

/** What running commands of nodes needs. */
export type Workshop = {
  readonly pool: Pool
  readonly runner: Runner
  /** For nodes with an image; without it they fail, saying so. */
  readonly containerRunner?: AdoptingRunner | undefined
  /** Where the folders are made in which commands run that name no other. */
  readonly scratch: string
  /** Begins the markers of this installation's commands on a host that it shares. */
  readonly markerPrefix: string
  readonly graceMs: number
  /** The address at which a command reaches this server. */
  readonly url: () => string
  /** Makes the token of a running node. */
  readonly issueToken: (holder: { node: string; epoch: number }) => string
  /** Aborts when output that is not stored yet is not waited for any longer. */
  readonly givenUp: AbortSignal
}

export type Attempt = { readonly task: string; readonly epoch: number; readonly signal: AbortSignal }

const LONGEST_MS = 2 ** 31 - 1 // of a timer

/**
 * Runs the command of a node, or takes up one in a container that outlived its server, and keeps its output. Answers how
 * it ended, when nothing of it is left. Throws the signal's reason when the attempt was stopped.
 */
export async function runCommand(
  at: Workshop,
  attempt: Attempt,
  work: Begun,
  timeoutSeconds: number | undefined,
): Promise<Ending> {
  const { spec } = work
  const token = at.issueToken({ node: work.node, epoch: attempt.epoch })
  const runner = spec.image === undefined ? at.runner : at.containerRunner
  if (runner === undefined) return { type: 'spawn_failed', reason: 'no container engine was found on this host' }
  const isScratch = spec.cwd === undefined && spec.image === undefined
  const cwd = isScratch ? await mkdtemp(join(at.scratch, `node-${work.node}-`)) : spec.cwd
  const output = createOutput(at, attempt, token)
  try {
    attempt.signal.throwIfAborted()
    const command = toCommand(at, { attempt, work, cwd, token, timeoutSeconds })
    const io = { sink: output.write }
    const adopted = await adopt(at, attempt, work, { ...io, timeoutSeconds })
    const running = adopted ?? (await runner.start(command, io))
    const ending = await awaitEnd(running, attempt.signal, { graceMs: at.graceMs, outlives: spec.image !== undefined })
    await output.close()
    attempt.signal.throwIfAborted()
    return ending
  } finally {
    output.leave()
    if (isScratch) await rm(cwd as string, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

type AdoptIo = { readonly sink: OutputWriter['write']; readonly timeoutSeconds: number | undefined }

const MOST_ADOPTIONS = 20

/**
 * A command in a container goes on without its server; its output is handed over again from the beginning. It carries the
 * marker of the attempt that started it, which is an earlier one when it was adopted before.
 */
async function adopt(at: Workshop, { task }: Attempt, work: Begun, io: AdoptIo): Promise<Running | undefined> {
  const { spec, lost, seconds } = work
  if (spec.image === undefined || lost === undefined || at.containerRunner === undefined) return undefined
  const timeoutMs = toTimeoutMs(io.timeoutSeconds === undefined ? undefined : io.timeoutSeconds - seconds)
  for (let epoch = lost.epoch; epoch > Math.max(0, lost.epoch - MOST_ADOPTIONS); epoch -= 1) {
    const marker = markerOf(at.markerPrefix, task, epoch)
    const found = await at.containerRunner.adopt(marker, { sink: io.sink, ...timeoutMs })
    if (found !== undefined) return found
  }
  refuseLost(work)
  return undefined
}

type EndOptions = {
  readonly graceMs: number
  /** It goes on when the server stops, and is taken up by the next. */
  readonly outlives: boolean
}

/** Throws the signal's reason when the command is left to the next server. */
function awaitEnd(running: Running, signal: AbortSignal, { graceMs, outlives }: EndOptions): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      const code = signal.reason instanceof WorkStopped ? signal.reason.code : undefined
      if (code === 'stopping' && outlives) reject(signal.reason as Error)
      // When the lease is lost, whoever has the task by then must not find it running.
      else void running.stop({ graceMs: code === 'lease_lost' ? 0 : graceMs })
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    running.ended.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function toTimeoutMs(seconds: number | undefined): { timeoutMs?: number } {
  if (seconds === undefined) return {}
  const timeoutMs = Math.max(1, Math.ceil(seconds * 1000))
  return timeoutMs > LONGEST_MS ? {} : { timeoutMs }
}

/** The writer is made when something is written: most commands say nothing, and then nothing is stored. */
function createOutput(at: Workshop, { task, epoch, signal }: Attempt, token: string) {
  let writer: OutputWriter | undefined
  const unwanted = new AbortController()
  const drop = () => unwanted.abort()
  signal.addEventListener('abort', () => {
    if (signal.reason instanceof WorkStopped && signal.reason.code === 'lease_lost') drop()
  })
  at.givenUp.addEventListener('abort', drop)
  if (at.givenUp.aborted) drop()
  const write: OutputWriter['write'] = (stream, bytes) => {
    writer ??= createOutputWriter({ pool: at.pool, task, attempt: epoch, mask: [token], signal: unwanted.signal })
    return writer.write(stream, bytes)
  }
  return { write, close: () => writer?.close(), leave: () => at.givenUp.removeEventListener('abort', drop) }
}

type Facts = {
  readonly attempt: Attempt
  readonly work: Begun
  readonly cwd: string | undefined
  readonly token: string
  readonly timeoutSeconds: number | undefined
}

function toCommand(at: Workshop, { attempt, work, cwd, token, timeoutSeconds }: Facts): CommandSpec {
  const { spec, type } = work
  const own = { MILLRACE_URL: at.url(), MILLRACE_NODE: work.node, MILLRACE_TOKEN: token }
  const command = spec.command ?? ''
  return {
    ...(type === 'shell command' ? { script: command } : { argv: [command, ...(spec.args ?? [])] as const }),
    marker: markerOf(at.markerPrefix, attempt.task, attempt.epoch),
    // A container has an environment of its own.
    env: { ...(spec.image === undefined ? basicEnvironment() : {}), ...spec.env, ...own },
    graceMs: at.graceMs,
    ...(cwd === undefined || spec.image !== undefined ? {} : { cwd }),
    ...(spec.umask === undefined ? {} : { umask: spec.umask }),
    ...toTimeoutMs(timeoutSeconds),
    ...(spec.limits === undefined ? {} : { limits: toLimits(spec.limits) }),
    ...(spec.image === undefined ? {} : { container: toContainer(spec, spec.image) }),
  }
}

/** What every command may count on. Nothing of the server's own environment: it may hold secrets. */
const basicEnvironment = () => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: homedir(),
  LANG: 'C.UTF-8',
  TMPDIR: tmpdir(),
})

function toLimits(limits: NonNullable<Spec['limits']>): NonNullable<CommandSpec['limits']> {
  return defined({
    memoryBytes: limits.memory,
    cpuSeconds: limits.cpu_seconds,
    processes: limits.processes,
    openFiles: limits.open_files,
    fileSizeBytes: limits.file_size,
  })
}

function toContainer(spec: Spec, image: string): NonNullable<CommandSpec['container']> {
  return {
    image,
    ...defined({
      mounts: spec.mounts?.map(({ source, target, read_only: isReadOnly = false }) => ({ source, target, isReadOnly })),
      network: spec.network,
      memoryBytes: spec.memory,
      cpus: spec.cpus,
      workdir: spec.cwd,
    }),
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>
}
