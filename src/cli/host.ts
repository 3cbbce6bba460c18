import type { Config } from '../config/index.ts'

/**
 * The program around the command line, for the commands that run Millrace in this process. All other commands ask a
 * server. It is loaded when such a command runs, so that help and errors do not wait for it.
 */
export type Host = {
  /** Starts everything and answers when it takes requests. When `signal` aborts first, it stops and throws. */
  serve(config: Config, signal: AbortSignal): Promise<Running>
  /** Starts to perform tasks, without a server, and answers when it does. When `signal` aborts first, it stops and throws. */
  worker(config: Config, signal: AbortSignal): Promise<RunningWorker>
  /** Brings the schema of the configured database up to date; answers the names of what was applied. */
  migrateUp(config: Config): Promise<string[]>
  migrateStatus(config: Config): Promise<SchemaStatus>
  /** The script that brings a database of schema `from` to this release's. */
  migrateSql(from: number): Promise<string>
  /** Calls `body` with the URL of the configured database; the embedded one runs meanwhile, whether a server does or not. */
  besideDatabase<T>(config: Config, body: (databaseUrl: string) => Promise<T>): Promise<T>
  /** Calls `take` with a copy of everything, line by line; answers how many rows it has. */
  exportDatabase(config: Config, take: (line: string) => Promise<void>): Promise<number>
  /** Reads a copy into the configured database, which must hold nothing yet: all of it or nothing. */
  importDatabase(config: Config, lines: AsyncIterable<string>): Promise<number>
  /** Looks at the configured database, and changes nothing there. */
  examineDatabase(config: Config): Promise<Finding[]>
}

type LoadHost = () => Promise<Host>

/** How commands get the parts of the program that they run here, each when it is needed. */
export type Loaders = { readonly host: LoadHost; readonly workflowTools: LoadWorkflowTools }

type RunsUntilStopped = {
  /** Settles with the error when the program can no longer do its work. */
  readonly failed: Promise<Error>
  stop(): Promise<void>
}

export type Running = RunsUntilStopped & {
  readonly url: string
  /** A link that signs in the administrator; undefined when the token was given as a setting. */
  readonly signInUrl: string | undefined
}

export type RunningWorker = RunsUntilStopped & {
  /** As the list of dispatchers shows it. */
  readonly name: string
  /** The kinds of tasks that it performs. */
  readonly kinds: readonly string[]
  /** Settles when somebody asked it to drain, and it has nothing left. */
  readonly drained: Promise<'drained'>
}

type SchemaStatus = {
  readonly version: number
  /** The newest version that this release knows. */
  readonly known: number
  readonly pending: readonly string[]
  readonly functionsCurrent: boolean
}

/** One thing that `doctor` looked at. */
export type Finding = {
  readonly check: string
  /** `unknown`: it could not be looked at, for the reason that the evidence gives. */
  readonly state: 'good' | 'warning' | 'bad' | 'unknown'
  readonly evidence: string
  readonly fix: string | null
}

/** A workflow file, with its path as it is shown. */
export type WorkflowFile = { readonly path: string; readonly bytes: Uint8Array }

/** What can be done with workflow files here, without a server. Loading it loads neither that nor the driver. */
export type WorkflowTools = {
  /** Whether a file of a folder of workflows is one, by its name. */
  readonly isWorkflowFile: (name: string) => boolean
  /** Finds what is wrong with the files; those beside them are looked at for what they define. */
  readonly lint: (
    files: readonly WorkflowFile[],
    beside: readonly WorkflowFile[],
  ) => {
    readonly findings: readonly WorkflowFinding[]
    readonly print: (format: FindingFormat) => string
  }
  readonly plan: (files: readonly WorkflowFile[], asked: AskedPlan) => { readonly text: string; readonly json: object }
  readonly graph: (files: readonly WorkflowFile[], format: GraphFormat) => string
  /** Runs tasks here, one after another. */
  readonly run: (files: readonly WorkflowFile[], asked: AskedRun) => Promise<readonly RanTask[]>
  /** The JSON Schema of workflow files. */
  readonly schema: () => object
  /** A workflow file to begin with, for editors that find the schema at that address. */
  readonly starter: (schema: string) => string
}

type LoadWorkflowTools = () => Promise<WorkflowTools>

export type FindingFormat = 'text' | 'json' | 'sarif' | 'github'
export type GraphFormat = 'text' | 'mermaid' | 'dot' | 'svg'

export type WorkflowFinding = {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly severity: 'error' | 'warning'
  readonly code: string
  readonly message: string
  readonly suggestion: string | null
}

/** Tasks to be run here. */
type AskedRun = {
  readonly folder: string
  readonly tasks: readonly string[]
  readonly archive: string
  readonly rev: number
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly onOutput: (task: string, stream: 'stdout' | 'stderr', bytes: Buffer) => void
  readonly onEnd: (ran: RanTask) => void
}

/** What became of a task that was run here. */
export type RanTask = {
  readonly name: string
  readonly state: 'succeeded' | 'failed' | 'skipped'
  readonly exitCode: number
  readonly seconds: number
  readonly reason: string | null
}

/** A run to be planned: what starts it, and what is known of its revision. */
export type AskedPlan = {
  readonly archive: string
  readonly rev: string
  readonly author: string
  readonly message: string
  readonly branch: string
  readonly changedPaths: readonly string[]
  readonly trigger:
    | { readonly type: 'commit' }
    | { readonly type: 'schedule'; readonly run: string; readonly workflow: string }
    | {
        readonly type: 'manual'
        readonly run: string
        readonly workflow: string
        readonly inputs: Readonly<Record<string, string>>
      }
    | {
        readonly type: 'manual'
        readonly run: string
        readonly task: string
        readonly inputs: Readonly<Record<string, string>>
      }
  /** How far the revision before it is, which has the same files. */
  readonly previous: 'running' | 'over' | 'none'
  readonly now: Date
}
