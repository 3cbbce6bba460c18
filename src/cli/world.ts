// What the command line touches of the process around it. Tests give another one and look at what was written.

/** Standard output or standard error. */
export type Sink = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export type Source = NodeJS.ReadableStream & {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
}

export type World = {
  readonly stdin: Source
  readonly stdout: Sink
  readonly stderr: Sink
  /** Default: the process's own, which `config` reads. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly workingDirectory?: string
  /** Calls `hear` when the person wants it to end; answers what undoes this. */
  onInterrupt(hear: (interrupted: Interrupted) => void): () => void
}

/** The person, or the system, ended the command before it was done. */
export class Interrupted extends Error {
  readonly code: 'interrupted' | 'terminated'
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`ended by ${signal}`)
    this.code = signal === 'SIGINT' ? 'interrupted' : 'terminated'
  }
}

/** The person has seen enough, and pressed the key that says so. */
export class Left extends Error {
  readonly code = 'left'
}

export const processWorld: World = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onInterrupt(hear) {
    const byInt = () => hear(new Interrupted('SIGINT'))
    const byTerm = () => hear(new Interrupted('SIGTERM'))
    process.on('SIGINT', byInt)
    process.on('SIGTERM', byTerm)
    return () => {
      process.off('SIGINT', byInt)
      process.off('SIGTERM', byTerm)
    }
  },
}
