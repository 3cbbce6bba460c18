import type { Condition as When } from '../../engine/index.ts'
import type { Condition } from './condition.ts'
import type { Glob } from './glob.ts'
import type { Reference } from './names.ts'
import type { OVERLAPS } from './schema.ts'

export type { When }

/** A workflow file that was read and has no errors, with every default filled in. */
export type Workflow = {
  readonly file: string
  readonly name: string
  readonly on: Triggers
  /** What the file adds to what `COMMIT` waits for. */
  readonly commitDepends: readonly Dependency[]
  readonly tasks: readonly TaskDefinition[]
}

export type Triggers = {
  /** Undefined: commits do not start it. */
  readonly commit: CommitFilter | undefined
  readonly schedule: readonly WorkflowSchedule[]
  readonly inputs: readonly Input[]
}

/** An empty list filters nothing. */
export type CommitFilter = {
  readonly paths: readonly Glob[]
  readonly pathsIgnore: readonly Glob[]
  readonly authors: readonly Glob[]
}

export type WorkflowSchedule = {
  readonly cron: string
  readonly timezone: string
  readonly overlap: (typeof OVERLAPS)[number]
}

export type Input = {
  readonly name: string
  readonly default: string | undefined
  readonly description: string | undefined
  readonly isRequired: boolean
  /** Undefined: any value. */
  readonly options: readonly string[] | undefined
}

export type Dependency = Reference & { readonly when: When }

/** What a task runs. */
export type Run =
  | { readonly type: 'command'; readonly command: readonly string[] }
  /** `shell` is the program with its options, to which the script's file is added. */
  | { readonly type: 'script'; readonly script: string; readonly shell: readonly string[] }
  | { readonly type: 'uses'; readonly uses: string }

export type TaskDefinition = {
  readonly name: string
  readonly depends: readonly Dependency[]
  readonly cancels: readonly Reference[]
  readonly run: Run
  readonly image: string | null
  readonly env: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  readonly artifacts: readonly string[]
  readonly isExclusive: boolean
  readonly timeoutSeconds: number
  readonly retries: number
  readonly queue: string
  readonly condition: Condition
}
