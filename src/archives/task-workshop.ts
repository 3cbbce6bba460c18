import type { Pool } from '../db/index.ts'
import type { Millrace } from '../engine/index.ts'
import type { AdoptingRunner, Runner } from '../runners/index.ts'
import type { Repository } from '../vcs/index.ts'
import type { FileLimits } from './find-files.ts'

/** What performing tasks of archives needs. */
export type TaskWorkshop = {
  readonly pool: Pool
  readonly millrace: Millrace
  readonly repositories: { of(archive: string): Promise<Repository> }
  readonly secrets: { read(archive: string, names: readonly string[]): Promise<Record<string, string>> }
  readonly runner: Runner
  /** For tasks with an image; without it they fail, saying so. */
  readonly containerRunner?: AdoptingRunner | undefined
  /** Where the folders are made that go with each attempt. */
  readonly scratch: string
  /** Begins the markers of this installation's commands, on a host and in commits. */
  readonly markerPrefix: string
  readonly graceMs: number
  /** The address at which a command reaches this server. */
  readonly url: () => Promise<string>
  /** Makes the token of a running task. */
  readonly issueToken: (holder: { readonly task: string; readonly epoch: number }) => string
  /** Aborts when output that is not stored yet is not waited for any longer. */
  readonly givenUp?: AbortSignal | undefined
  /** Of tasks that name none; without it they run on the host. */
  readonly defaultImage?: string | undefined
  /** How this program is started: commands on the host then find it as `millrace`. */
  readonly program?: readonly string[] | undefined
  readonly artifactLimits?: FileLimits
  /** Pauses before a repository that does not answer is asked again. */
  readonly pausesMs?: readonly number[]
}

/** What is kept of a success. */
export type TaskResult = {
  readonly exit_code: number
  /** The task said that there was nothing to do. */
  readonly skipped?: true
  readonly artifacts?: number
  /** The revisions that it made. */
  readonly commits?: readonly number[]
}
