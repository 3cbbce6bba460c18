import type { Db, Pool } from '../db/index.ts'
import {
  type AnyWorker,
  defineWorker,
  isLater,
  type Later,
  type Millrace,
  PermanentError,
  type WorkContext,
} from '../engine/index.ts'
import { type AdoptingRunner, attend, type Ending, markerOf, type Runner } from '../runners/index.ts'
import {
  type AttemptOutput,
  createAttemptOutput,
  dropFiles,
  dropLooseFiles,
  keepArtifacts,
  type StoredFile,
} from '../storage/index.ts'
import type { Repository } from '../vcs/index.ts'
import { changedPaths } from './changed-paths.ts'
import { openCommitDoor } from './commit-door.ts'
import { type Committer, createCommitter } from './commit-workspace.ts'
import type { FileLimits } from './find-files.ts'
import { keepFiles } from './keep-artifacts.ts'
import { passArtifacts } from './pass-artifacts.ts'
import { type ArchiveTask, archiveTaskKind, archiveTaskSchema } from './payload.ts'
import { artifactsOf, prepareCommand } from './task-command.ts'
import { judge, SKIPPED, TEMPORARY } from './task-ending.ts'
import { openRoom, type Room } from './task-room.ts'

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
  readonly url: () => string
  /** Makes the token of a running task. */
  readonly issueToken: (holder: { readonly task: string; readonly epoch: number }) => string
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

export type ArchiveTaskWorker = AnyWorker & {
  /** Resolves when nothing is being performed any more, also what the dispatcher has given up. */
  settled(): Promise<void>
}

const ARTIFACT_LIMITS: FileLimits = { count: 10_000, bytes: 1024 ** 3 }

/** The worker that performs the commands and scripts of archives, for a dispatcher. */
export function createArchiveTaskWorker(at: TaskWorkshop): ArchiveTaskWorker {
  const performing = new Performing(at)
  const underWay = new Set<Promise<unknown>>()
  const worker = defineWorker({
    kind: archiveTaskKind,
    payload: archiveTaskSchema,
    work(context): Promise<TaskResult | Later> {
      const performance = performing.perform(context)
      underWay.add(performance)
      const forget = () => underWay.delete(performance)
      performance.then(forget, forget)
      return performance
    },
    isPlain: (result) => !performing.filesOf.has(result),
    async onSuccess(tx, task, result) {
      const db: Db = { query: ({ text, values }) => tx.query(text, values) }
      await keepArtifacts(db, { task: task.id, attempt: task.epoch }, performing.filesOf.get(result) ?? [])
    },
    async onFailure(tx, task) {
      if (task.payload.artifacts.length === 0) return
      const db: Db = { query: ({ text, values }) => tx.query(text, values) }
      await dropLooseFiles(db, task.id)
    },
  })
  return Object.assign(worker, {
    async settled() {
      await Promise.allSettled(underWay)
    },
  })
}

type Context = WorkContext<ArchiveTask>
type Attempt = Pick<Context, 'task' | 'payload' | 'signal'> & {
  readonly token: string
  readonly secrets: Record<string, string>
  readonly output: AttemptOutput
}

class Performing {
  readonly #at: TaskWorkshop
  readonly #prefix: string
  readonly #swept: Promise<unknown>
  /** By the result they come with. Not part of it: that is shown. */
  readonly filesOf = new WeakMap<TaskResult, readonly StoredFile[]>()

  constructor(at: TaskWorkshop) {
    this.#at = at
    this.#prefix = `${at.markerPrefix}archive-`
    // A container goes on without its server; one that ran in a workspace has lost that with it.
    this.#swept = at.containerRunner?.sweepLeftovers(this.#prefix).catch(() => {}) ?? Promise.resolve()
  }

  async perform(context: Context): Promise<TaskResult | Later> {
    const { task, payload, signal } = context
    await this.#sweep(task.id, task.epoch)
    const secrets = await this.#readSecrets(payload)
    const token = this.#at.issueToken({ task: task.id, epoch: task.epoch })
    const mask = [token, ...Object.values(secrets)]
    const output = createAttemptOutput({ pool: this.#at.pool, task: task.id, attempt: task.epoch, mask, signal })
    try {
      return await this.#performIn({ task, payload, signal, token, secrets, output })
    } finally {
      await output.close()
    }
  }

  /** What an attempt before this one left on this host, whose server died, is ended. */
  async #sweep(task: string, epoch: number): Promise<void> {
    await this.#swept
    if (epoch === 1) return
    const which = { prefix: markerOf(this.#prefix, task, 0).slice(0, -1) }
    await this.#at.runner.sweep(which)
    await this.#at.containerRunner?.sweep(which).catch(() => 0)
  }

  async #readSecrets({ archive, secrets }: ArchiveTask): Promise<Record<string, string>> {
    try {
      return await this.#at.secrets.read(archive, secrets)
    } catch (error) {
      const { code, message, remedy } = error as { code?: unknown; message: string; remedy?: string }
      if (typeof code !== 'string' || !code.startsWith('secret_')) throw error
      throw new PermanentError(remedy === undefined ? message : `${message}; ${remedy}`, { cause: error })
    }
  }

  async #performIn(attempt: Attempt): Promise<TaskResult | Later> {
    const { task, payload, signal, output } = attempt
    const onNote = (note: string) => void output.write('stderr', Buffer.from(`[millrace: ${note}]\n`))
    const { scratch, repositories, pausesMs } = this.#at
    const more = pausesMs === undefined ? {} : { pausesMs }
    await using room = await openRoom({
      scratch,
      repositories,
      task: task.id,
      work: payload,
      signal,
      onPause: onNote,
      ...more,
    })
    const committer = this.#committerOf(attempt, room)
    const ending = await this.#run(attempt, room, committer)
    // What it has printed is stored before what it has left.
    signal.throwIfAborted()
    const judged = judge(ending, await this.#postponed(task.id, ending))
    if (isLater(judged)) {
      onNote(`exited with 111: again in ${judged.delaySeconds} s`)
      return judged
    }
    const { exitCode } = judged
    const patterns = exitCode === SKIPPED ? [] : payload.artifacts
    const limits = this.#at.artifactLimits ?? ARTIFACT_LIMITS
    const files = await keepFiles({
      pool: this.#at.pool,
      room,
      patterns,
      limits,
      task: task.id,
      attempt: task.epoch,
      signal,
      onNote,
    })
    const result: TaskResult = {
      exit_code: exitCode,
      ...(exitCode === SKIPPED ? { skipped: true } : {}),
      ...(files.length > 0 ? { artifacts: files.length } : {}),
      ...(committer && committer.revisions.length > 0
        ? { commits: committer.revisions.map(({ number }) => number) }
        : {}),
    }
    // A task that is performed again replaces what it had.
    if (files.length > 0 || task.epoch > 1) this.filesOf.set(result, files)
    return this.#unlessStopped(attempt, result)
  }

  /** A cancel that came too late for the command still comes in time for what it left. */
  async #unlessStopped({ task, signal, payload }: Attempt, result: TaskResult): Promise<TaskResult> {
    if (!signal.aborted) return result
    if (payload.artifacts.length > 0)
      await dropFiles(this.#at.pool, { task: task.id, attempt: task.epoch }).catch(() => {})
    throw signal.reason
  }

  #committerOf({ task, payload }: Attempt, { repository, workspace }: Room): Committer | undefined {
    if (repository === undefined || workspace === undefined) return undefined
    const name = `${payload.archive}@${task.key ?? `${payload.rev.number}:${payload.name}`}`
    const by = this.#at.markerPrefix.replace(/^millrace-|-$/g, '')
    const cause = { name, by, task: task.id, attempt: task.epoch, depth: payload.depth + 1 }
    return createCommitter({ repository, workspace, cause })
  }

  async #run(attempt: Attempt, room: Room, committer: Committer | undefined): Promise<Ending> {
    const { task, payload, signal, output, secrets, token } = attempt
    const { pool, graceMs, url, program, defaultImage } = this.#at
    const image = payload.image ?? defaultImage ?? null
    const runner = image === null ? this.#at.runner : this.#at.containerRunner
    if (runner === undefined) return { type: 'spawn_failed', reason: 'no container engine was found on this host' }
    await using door = committer && (await openCommitDoor(committer, token))
    const changed = await changedPaths(pool, room.repository, payload)
    await passArtifacts(this.#at, task, { folder: artifactsOf(room), signal })
    const marker = markerOf(this.#prefix, task.id, task.epoch)
    const facts = {
      work: payload,
      task: task.id,
      room,
      door,
      image,
      changed,
      secrets,
      token,
      url: url(),
      marker,
      graceMs,
      program,
    }
    const command = await prepareCommand(facts)
    signal.throwIfAborted()
    const running = await runner.start(command, { sink: output.write })
    // Awaited here: the door is closed when this is left.
    return await attend(running, signal, { graceMs, outlives: false })
  }

  /** How often in a row it has asked for later, where that matters. */
  async #postponed(task: string, ending: Ending): Promise<number> {
    if (ending.type !== 'exited' || ending.code !== TEMPORARY) return 0
    const ended = (await this.#at.millrace.attempts(task)).filter(({ outcome }) => outcome !== null)
    const other = ended.findLastIndex(({ outcome }) => outcome !== 'later')
    return ended.length - 1 - other
  }
}
