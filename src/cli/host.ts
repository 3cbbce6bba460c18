import type { Config } from '../config/index.ts'

/**
 * The program around the command line, for the commands that run Millrace in this process. All other commands ask a
 * server. It is loaded when such a command runs, so that help and errors do not wait for it.
 */
export type Host = {
  /** Starts everything and answers when it takes requests. When `signal` aborts first, it stops and throws. */
  serve(config: Config, signal: AbortSignal): Promise<Running>
  /** Brings the schema of the configured database up to date; answers the names of what was applied. */
  migrateUp(config: Config): Promise<string[]>
  migrateStatus(config: Config): Promise<SchemaStatus>
  /** The script that brings a database of schema `from` to this release's. */
  migrateSql(from: number): Promise<string>
}

export type LoadHost = () => Promise<Host>

export type Running = {
  readonly url: string
  /** A link that signs in the administrator; undefined when the token was given as a setting. */
  readonly signInUrl: string | undefined
  /** Settles with the error when the program can no longer do its work. */
  readonly failed: Promise<Error>
  stop(): Promise<void>
}

type SchemaStatus = {
  readonly version: number
  /** The newest version that this release knows. */
  readonly known: number
  readonly pending: readonly string[]
  readonly functionsCurrent: boolean
}
