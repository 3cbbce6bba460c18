import { rm } from 'node:fs/promises'
import type { Pool } from '../db/index.ts'
import {
  type AdoptingRunner,
  attend,
  basicEnvironment,
  type CommandSpec,
  type Ending,
  makeScratchFolder,
  markerOf,
  type Runner,
  type Running,
  toTimeoutMs,
} from '../runners/index.ts'
import { type AttemptOutput, createAttemptOutput, patiently } from '../storage/index.ts'
import type { Begun } from './begin.ts'
import { NodeFailure, refuseLost } from './failure.ts'
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
  readonly url: () => Promise<string>
  /** Makes the token of a running node. */
  readonly issueToken: (holder: { node: string; epoch: number }) => string
  /** Aborts when output that is not stored yet is not waited for any longer. */
  readonly givenUp?: AbortSignal | undefined
}

export type Attempt = { readonly task: string; readonly epoch: number; readonly signal: AbortSignal }

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
  const cwd = isScratch ? await makeScratchFolder(at.scratch, `node-${work.node}`) : spec.cwd
  const { task, epoch, signal } = attempt
  const mask = [token]
  const output = createAttemptOutput({ pool: at.pool, task, attempt: epoch, mask, signal, givenUp: at.givenUp })
  try {
    attempt.signal.throwIfAborted()
    const url = (await patiently(attempt.signal, at.url)) ?? ''
    attempt.signal.throwIfAborted()
    const command = toCommand(at, { attempt, work, cwd, token, url, timeoutSeconds })
    const io = { sink: output.write }
    const adopted = await adopt(at, attempt, work, { ...io, timeoutSeconds })
    const running = adopted ?? (await runner.start(command, io))
    const ending = await attend(running, attempt.signal, { graceMs: at.graceMs, outlives: spec.image !== undefined })
    await output.close()
    if (attempt.signal.aborted) throw reasonOf(attempt.signal, ending)
    return ending
  } finally {
    output.leave()
    if (isScratch) await rm(cwd as string, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

/** Why the attempt was stopped; of one that was killed also the signal that ended its command. */
function reasonOf({ reason }: AbortSignal, ending: Ending): unknown {
  const signal = 'signal' in ending ? ending.signal : undefined
  if ((reason as { code?: unknown }).code !== 'canceled' || signal === undefined) return reason
  return new NodeFailure(`ended by ${signal}`, { result: null, signal })
}

type AdoptIo = { readonly sink: AttemptOutput['write']; readonly timeoutSeconds: number | undefined }

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

type Facts = {
  readonly attempt: Attempt
  readonly work: Begun
  readonly cwd: string | undefined
  readonly token: string
  readonly url: string
  readonly timeoutSeconds: number | undefined
}

function toCommand(at: Workshop, { attempt, work, cwd, token, url, timeoutSeconds }: Facts): CommandSpec {
  const { spec, type } = work
  const own = { MILLRACE_URL: url, MILLRACE_NODE: work.node, MILLRACE_TOKEN: token }
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
