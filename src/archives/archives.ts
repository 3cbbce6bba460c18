import type { Db, Pool } from '../db/index.ts'
import type { Attention, Millrace } from '../engine/index.ts'
import type { Archive } from './archive.ts'
import { ArchiveRuns } from './archive-runs.ts'
import { arrive, type Notice } from './arrive.ts'
import { attention } from './attention.ts'
import { type CatchUp, catchUp } from './catch-up.ts'
import type { ArchivesContext } from './context.ts'
import { find, list } from './find.ts'
import { Follower } from './follow.ts'
import { type Frontier, frontiers } from './frontier.ts'
import { hold, release, remove } from './hold.ts'
import { type IndexPage, type IndexQuery, readIndex } from './index-read.ts'
import { type Loom, loom } from './loom.ts'
import { type PlannedRun, planRun, type WantedRun } from './plan-run.ts'
import { type AskedNext, type DefinitionAt, definitionOf, type NextPlan, planNext } from './read-definition-at.ts'
import {
  type Gap,
  gaps,
  type RevisionDetail,
  type RevisionSummary,
  revision,
  revisions,
  tasksOf,
} from './read-revisions.ts'
import { type Registered, type Registration, register } from './register.ts'
import { createRepositories, type ReadSecrets, type Repositories } from './repositories.ts'

export type ArchivesOptions = {
  readonly pool: Pool
  readonly millrace: Millrace
  /** Where mirrors and workspaces are kept. */
  readonly cacheDir: string
  /** How long an archive goes without a look when nobody announces anything. */
  readonly pollSeconds: number
  /** Commands of one archive and queue that run at once. Default: 4. */
  readonly commandsAtOnce?: number
  /** The values of secrets by name, for sources that need a password. */
  readonly readSecrets?: ReadSecrets
  /** Told of faults that no archive can be blamed for. */
  readonly onError: (error: Error) => void
}

type Page = { readonly before?: number | undefined; readonly limit: number }

/** The verbs of archives, with what they need; the server gets them so. */
export type Archives = {
  readonly repositories: Repositories
  /** Runs that no commit starts. */
  readonly runs: ArchiveRuns
  register(name: string, registration: Registration): Promise<Registered>
  find(name: string): Promise<Archive>
  list(page: { after: string; limit: number }): Promise<Archive[]>
  remove(name: string, version?: number): Promise<void>
  hold(name: string): Promise<Archive>
  release(name: string): Promise<Archive>
  arrive(name: string, notice: Notice): Promise<{ isKnown: boolean }>
  catchUp(name: string, options: CatchUp): Promise<Archive>
  revisions(name: string, page: Page): Promise<RevisionSummary[]>
  revision(name: string, number: number): Promise<RevisionDetail>
  gaps(name: string): Promise<{ archive: Archive; gaps: Gap[] }>
  loom(name: string, page: Page): Promise<Loom>
  /** The ids of a revision's tasks. Throws `ArchiveNotFound` and `RevisionNotPlanned`. */
  tasksOf(name: string, asked: { readonly rev: number; readonly limit: number }): Promise<string[]>
  /** How far the tasks of these have got, by the ids of the archives. */
  frontiers(archives: readonly Archive[]): Promise<Map<string, Frontier>>
  /** The workflow files of a planned revision, by default the newest, and what they mean. */
  definition(name: string, rev?: number | string): Promise<DefinitionAt>
  /** What the next commit would add. */
  planNext(name: string, asked: AskedNext): Promise<NextPlan>
  /** Archives and schedules that do not go on. */
  attention(since: Date): Promise<Attention[]>
  readIndex(query: IndexQuery): Promise<IndexPage>
  planRun(archive: string, rev: number, asked: Pick<WantedRun, 'trigger' | 'chosen'>): Promise<PlannedRun>
  /** Begins to plan what arrives, until the answer is called. */
  follow(options?: { concurrency?: number; leaseSeconds?: number }): () => Promise<void>
}

export function createArchives(options: ArchivesOptions): Archives {
  const { pool, millrace, commandsAtOnce, pollSeconds, onError } = options
  const repositories = createRepositories(options)
  let follower: Follower | undefined
  const context: ArchivesContext = { pool, millrace, commandsAtOnce, repositories, wake: () => follower?.wake() }
  const db: Db = pool
  return {
    repositories,
    runs: new ArchiveRuns(context),
    register: (name, registration) => register(context, name, registration),
    find: (name) => find(db, name),
    list: (page) => list(db, page),
    remove: (name, version) => remove(context, name, version),
    hold: (name) => hold(context, name),
    release: (name) => release(context, name),
    arrive: (name, notice) => arrive(context, name, notice),
    catchUp: (name, how) => catchUp(context, name, how),
    revisions: (name, page) => revisions(db, name, page),
    revision: (name, number) => revision(db, name, number),
    gaps: (name) => gaps(db, name),
    loom: (name, page) => loom(db, name, page),
    tasksOf: (name, asked) => tasksOf(db, name, asked),
    frontiers: (of) => frontiers(db, of),
    definition: (name, rev) => definitionOf(db, name, rev),
    planNext: (name, asked) => planNext(db, name, asked),
    attention: (since) => attention(db, since),
    readIndex: (query) => readIndex(pool, query),
    planRun: (archive, rev, asked) => planRun(context, { archive, rev, ...asked }),
    follow(more = {}) {
      const started = new Follower({ ...context, pollSeconds, onError, ...more })
      follower = started
      started.start()
      return () => started.stop()
    },
  }
}
