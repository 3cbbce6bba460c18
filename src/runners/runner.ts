// The port: run a command somewhere, stream its output, stop it so that nothing survives. Each implementation passes
// runner.suite.ts.

export type Stream = 'stdout' | 'stderr'

/**
 * Takes the output in the order in which it was written. While a promise it answered is pending nothing more is
 * handed over, and the command blocks once the little that lies between is full. When it throws, the command is
 * stopped and `ended` rejects with the error.
 */
export type Sink = (stream: Stream, bytes: Buffer) => Promise<void> | void

export type RunnerIo = { readonly sink: Sink }

/** What the command may use at most. Which are enforced on this host is said by `describe`. */
export type CommandLimits = {
  /** Of the command and all it starts where the system can count that, else of each process. */
  readonly memoryBytes?: number
  /** Processor time of each process. */
  readonly cpuSeconds?: number
  readonly processes?: number
  readonly openFiles?: number
  /** Of each file that is written. */
  readonly fileSizeBytes?: number
}

export type Mount = { readonly source: string; readonly target: string; readonly isReadOnly?: boolean }

export type ContainerSpec = {
  readonly image: string
  readonly mounts?: readonly Mount[]
  /** Default: none. */
  readonly network?: 'none' | 'host' | 'bridge'
  readonly memoryBytes?: number
  readonly cpus?: number
  readonly pids?: number
  /** As the engine takes it: a name, `uid` or `uid:gid`. Default: the image's. */
  readonly user?: string
  /** Folder inside the container. Default: the image's. */
  readonly workdir?: string
}

/** A program and its arguments, without any shell; or a script and the shell that runs it, by default bash. */
export type CommandLine =
  | { readonly argv: readonly [program: string, ...args: string[]] }
  | { readonly script: string /** With options if wanted: `bash -e`. */; readonly shell?: string }

export type CommandSpec = CommandLine & {
  /** Unique per attempt; carried by every process of the command as MILLRACE_MARKER. See `markerOf`. */
  readonly marker: string
  /** The whole environment: nothing of the server's is inherited, MILLRACE_MARKER and MILLRACE_RUNNER are added. */
  readonly env: Readonly<Record<string, string>>
  /** Default: the server's. Of a container see `container.workdir`. */
  readonly cwd?: string
  /** Default: 0o022. */
  readonly umask?: number
  readonly limits?: CommandLimits
  /** After so long the command is stopped as `stop` does and its ending is `timed_out`. */
  readonly timeoutMs?: number
  /** Between TERM and KILL when it times out, and for what it leaves behind. Default: 10 s and 2 s. */
  readonly graceMs?: number
  /** Only for the container runner, which needs it. */
  readonly container?: ContainerSpec
}

export type Ending =
  | { readonly type: 'exited'; readonly code: number /** A guess worth showing. */; readonly note?: string }
  | { readonly type: 'signaled'; readonly signal: NodeJS.Signals; readonly note?: string }
  /** The command never began. `errno` as the system names it (ENOENT, EACCES, E2BIG …), where it said so. */
  | { readonly type: 'spawn_failed'; readonly reason: string; readonly errno?: string }
  /** `signal`: what ended its first process; without one it ended by itself when it was asked to. */
  | { readonly type: 'timed_out'; readonly afterMs: number; readonly signal?: NodeJS.Signals }
  | { readonly type: 'stopped'; readonly signal?: NodeJS.Signals }
  /** What watched it is gone, and how it would have ended cannot be known. Nothing of it runs. */
  | { readonly type: 'lost'; readonly reason: string }

export type Running = {
  readonly marker: string
  /** Resolves once nothing of the command runs and the sink has taken all of its output. */
  readonly ended: Promise<Ending>
  /**
   * TERM to all of it, after the grace KILL, again until nothing is left. Resolves when it is really gone, even
   * while the sink still holds up the rest of the output. Harmless when it has ended. Default grace: 10 s.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** What a person who asks for the state of this host is told. */
export type RunnerDescription = {
  readonly runner: string
  readonly isUsable: boolean
  /** Whether the order of output is exact across stdout and stderr. */
  readonly hasExactOrder: boolean
  readonly notes: readonly string[]
}

export type Which = { readonly marker: string } | { readonly prefix: string }

export type Runner = {
  /** Throws `InvalidCommand` for what cannot be meant; a program that is not there is an ending. */
  start(command: CommandSpec, io: RunnerIo): Promise<Running>
  /** Ends whatever carries the marker, or one that begins so, on this host, whoever started it. Answers how much. */
  sweep(which: Which): Promise<number>
  /** Ends what carries such a marker and whose server is dead. Answers how much. */
  sweepLeftovers(prefix: string): Promise<number>
  describe(): Promise<RunnerDescription>
  /** Stops everything that still runs, without grace. */
  close(): Promise<void>
}

/** A runner whose commands outlive the server, to be found again. */
export type AdoptingRunner = Runner & {
  /**
   * Takes up the command that carries the marker, still running or ended meanwhile, and hands over its output **from
   * the beginning**. Undefined when there is none.
   */
  adopt(marker: string, io: RunnerIo & { readonly timeoutMs?: number }): Promise<Running | undefined>
  /** The markers that begin so of commands whose server is dead and that nobody has adopted. */
  leftovers(prefix: string): Promise<string[]>
  /** Lets go of everything, which runs on and may be adopted; here it ends as `lost`. Instead of `close`. */
  detach(): Promise<void>
}

/** The command's marker: the prefix tells one installation's commands from another's on the same host. */
export function markerOf(prefix: string, task: string, attempt: number): string {
  return `${prefix}${task}.${attempt}`
}

/** A command that cannot be meant: correct the field that the message names. */
export class InvalidCommand extends Error {
  readonly code = 'invalid_command'
}
