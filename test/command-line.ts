// The command line in this process: what it prints is caught, and a terminal is played to it.
import { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { run } from '../src/cli/index.ts'
import { Interrupted } from '../src/cli/world.ts'
import { ADMIN, type TestServer } from './server.ts'

export type Asked = {
  readonly env?: Readonly<Record<string, string>>
  /** What is piped into it, or typed where it is a terminal. */
  readonly stdin?: string | Readable
  /** Standard output, standard error and standard input are a terminal of this size. */
  readonly terminal?: { readonly columns: number; readonly rows: number }
  readonly workingDirectory?: string
}

export type Answered = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Standard output as it was written. */
  readonly bytes: Buffer
}

export type Begun = Promise<Answered> & {
  readonly stdout: () => string
  readonly stderr: () => string
  /** As Ctrl-C does. */
  interrupt(): void
  /** Answers when standard output, or standard error, has said this; throws when the command ends without. */
  says(pattern: RegExp): Promise<void>
}

/** Begins a command; answers what it printed and its exit code when it is over. */
export function begin(args: readonly string[], asked: Asked = {}): Begun {
  const size = asked.terminal
  const hearers = new Set<() => void>()
  const hearAll = () => {
    for (const hear of hearers) hear()
  }
  const stdout = sink(size, hearAll)
  const stderr = sink(size, hearAll)
  const interruptions = new Set<(interrupted: Interrupted) => void>()
  const world = {
    stdin: source(asked),
    stdout: stdout.stream,
    stderr: stderr.stream,
    environment: { HOME: '/proc/nonexistent', ...asked.env },
    workingDirectory: asked.workingDirectory ?? '/proc/nonexistent',
    onInterrupt(hear: (interrupted: Interrupted) => void) {
      interruptions.add(hear)
      return () => interruptions.delete(hear)
    },
  }
  const loaders = {
    host: () => import('../src/main.ts'),
    workflowTools: () => import('../src/archives/workflow-tools.ts'),
  }
  const over = run(['node', 'millrace', ...args], loaders, world).then((exitCode) => {
    return { exitCode, stdout: stdout.text(), stderr: stderr.text(), bytes: stdout.bytes() }
  })
  const interrupt = () => {
    for (const hear of interruptions) hear(new Interrupted('SIGINT'))
  }
  // A test that ran out of time leaves no command behind.
  onTestFinished(async () => {
    interrupt()
    await over
  })
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const hear = () => {
        if (!pattern.test(stdout.text()) && !pattern.test(stderr.text())) return
        hearers.delete(hear)
        resolve()
      }
      hearers.add(hear)
      hear()
      void over.then(({ exitCode, ...said }) =>
        reject(new Error(`ended with ${exitCode} and did not say ${pattern}: ${JSON.stringify(said)}`)),
      )
    })
  return Object.assign(over, { stdout: stdout.text, stderr: stderr.text, interrupt, says })
}

/** The command line as it asks this server, as the administrator. */
export function commandLineOf(server: TestServer, more: Readonly<Record<string, string>> = {}) {
  const env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: ADMIN, ...more }
  return (args: readonly string[], asked: Asked = {}): Begun => begin(args, { ...asked, env: { ...env, ...asked.env } })
}

function sink(size: Asked['terminal'], onWrite: () => void) {
  const chunks: Buffer[] = []
  const bytes = () => Buffer.concat(chunks)
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(Buffer.from(chunk))
      onWrite()
      done()
    },
  })
  return { stream: Object.assign(stream, size && { isTTY: true, ...size }), bytes, text: () => bytes().toString() }
}

function source({ stdin = '', terminal }: Asked) {
  const stream = typeof stdin === 'string' ? Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]) : stdin
  return Object.assign(stream, terminal && { isTTY: true, setRawMode: () => {} })
}
