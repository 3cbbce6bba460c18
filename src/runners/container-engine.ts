// The command line of podman or docker. Both take the same words for what is needed here; where they differ, it says so.
import { type ChildProcess, spawn } from 'node:child_process'

const LONGEST_ANSWER = 64 * 1024 * 1024

export type Answer = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** The engine does not answer as it should. */
export class EngineFailed extends Error {
  readonly code = 'engine_failed'
}

/** What is asked of a container, in the form in which both engines answer. */
export type Inspected = {
  readonly id: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly status: string
  readonly exitCode: number
  readonly hasRunOutOfMemory: boolean
  readonly memoryLimit: number
  /** The file into which podman's monitor writes the output, and the monitor's process; docker has neither. */
  readonly logPath: string | undefined
  readonly monitorPid: number | undefined
}

export class ContainerEngine {
  readonly command: string

  constructor(command: string) {
    this.command = command
  }

  get isPodman(): boolean {
    return /podman[^/]*$/.test(this.command)
  }

  /**
   * Starts the command line; the caller waits for it. The monitor that podman starts with a container writes a file `oom`
   * into its working directory when memory runs out, so `run` needs a folder that is removed.
   */
  spawn(args: readonly string[], folder?: string): ChildProcess {
    return spawn(this.command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  }

  /** Never throws for an exit code; `code` is null when the program is not there or was killed. */
  ask(args: readonly string[]): Promise<Answer> {
    return answerOf(this.spawn(args))
  }

  async expect(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.ask(args)
    if (code !== 0) throw new EngineFailed(`${this.command} ${args[0]} ended with ${code}: ${errorLine(stderr)}`)
    return stdout
  }

  /** Undefined when there is no such container. */
  async inspect(name: string): Promise<Inspected | undefined> {
    const { code, stdout } = await this.ask(['container', 'inspect', name])
    if (code !== 0) return undefined
    const [found] = JSON.parse(stdout) as unknown[]
    return found === undefined ? undefined : toInspected(found as RawContainer)
  }

  /** Containers that carry the label, in whatever state. */
  async list(label: string): Promise<Inspected[]> {
    const ids = (await this.expect(['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${label}`])).split('\n')
    const found = await Promise.all(ids.filter((id) => id !== '').map((id) => this.inspect(id)))
    return found.filter((one) => one !== undefined)
  }

  /** Ends and removes the container; harmless when there is none. */
  async remove(name: string): Promise<void> {
    const { code, stderr } = await this.ask([
      'rm',
      '--force',
      '--volumes',
      ...(this.isPodman ? ['--time', '0'] : []),
      name,
    ])
    if (code === 0 || /no such container|no container with/i.test(stderr)) return
    if ((await this.inspect(name)) === undefined) return
    throw new EngineFailed(`${this.command} rm ended with ${code}: ${errorLine(stderr)}`)
  }
}

export function answerOf(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve) => {
    const said = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        if (said[stream].length < LONGEST_ANSWER) said[stream] += text
      })
    child.once('error', (error) => resolve({ code: null, stdout: '', stderr: error.message }))
    child.once('close', (code) => resolve({ code, ...said }))
  })
}

/** The line that says what is wrong: before it are warnings, and after it may be advice. */
export function errorLine(text: string): string {
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /^(docker: )?error\b/i.test(line)) ?? lines.at(-1) ?? ''
}

type RawContainer = {
  Id: string
  Name: string
  Config: { Labels?: Record<string, string> | null }
  State: { Status: string; ExitCode: number; OOMKilled?: boolean; ConmonPid?: number }
  HostConfig: { Memory?: number; LogConfig?: { Path?: string } }
}

function toInspected({ Id, Name, Config, State, HostConfig }: RawContainer): Inspected {
  return {
    id: Id,
    name: Name.replace(/^\//, ''),
    labels: Config.Labels ?? {},
    status: State.Status,
    exitCode: State.ExitCode,
    hasRunOutOfMemory: State.OOMKilled === true,
    memoryLimit: HostConfig.Memory ?? 0,
    logPath: HostConfig.LogConfig?.Path || undefined,
    monitorPid: State.ConmonPid || undefined,
  }
}
