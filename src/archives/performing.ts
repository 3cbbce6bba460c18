import { setTimeout as sleep } from 'node:timers/promises'
import { isLater, type Later, PermanentError, TransientError, type WorkContext } from '../engine/index.ts'
import { attend, type Ending, markerOf } from '../runners/index.ts'
import { type AttemptOutput, createAttemptOutput, dropFiles, patiently, type StoredFile } from '../storage/index.ts'
import { changedPaths } from './changed-paths.ts'
import { openCommitDoor } from './commit-door.ts'
import { type Committer, createCommitter } from './commit-workspace.ts'
import type { FileLimits } from './find-files.ts'
import { keepFiles } from './keep-artifacts.ts'
import { passArtifacts } from './pass-artifacts.ts'
import type { ArchiveTask } from './payload.ts'
import { markersOfTasks } from './sweep-rooms.ts'
import { artifactsOf, prepareCommand } from './task-command.ts'
import { judge, SKIPPED, TEMPORARY, whenBack } from './task-ending.ts'
import { openRoom, RepositoryAway, type Room } from './task-room.ts'
import type { TaskResult, TaskWorkshop } from './task-workshop.ts'

const LOOK_AGAIN_MS = 500
const ARTIFACT_LIMITS: FileLimits = { count: 10_000, bytes: 1024 ** 3 }

type Context = WorkContext<ArchiveTask>
type Attempt = Pick<Context, 'task' | 'payload' | 'signal'> & {
  readonly token: string
  readonly secrets: Record<string, string>
  readonly output: AttemptOutput
  /** Says something of Millrace's own in the log. */
  readonly note: (text: string) => void
}

/** Performs tasks of archives, one attempt at a time. */
export class Performing {
  readonly #at: TaskWorkshop
  readonly #prefix: string
  readonly #swept: Promise<unknown>
  /** By the result they come with. Not part of it: that is shown. */
  readonly filesOf = new WeakMap<TaskResult, readonly StoredFile[]>()

  constructor(at: TaskWorkshop) {
    this.#at = at
    this.#prefix = markersOfTasks(at.markerPrefix)
    // A container goes on without its server; one that ran in a workspace has lost that with it.
    this.#swept = at.containerRunner?.sweepLeftovers(this.#prefix).catch(() => {}) ?? Promise.resolve()
  }

  async perform({ task, payload, signal }: Context): Promise<TaskResult | Later> {
    await this.#sweep(task.id, task.epoch)
    const secrets = await this.#readSecrets(payload, signal)
    const token = this.#at.issueToken({ task: task.id, epoch: task.epoch })
    const mask = [token, ...Object.values(secrets)]
    const { pool, givenUp } = this.#at
    const output = createAttemptOutput({ pool, task: task.id, attempt: task.epoch, mask, signal, givenUp })
    // What cannot be stored is thrown when the output is closed.
    const write = async (text: string) => output.write('stderr', Buffer.from(text))
    const note = (text: string) => void write(`[millrace: ${text}]\n`).catch(() => {})
    try {
      return await this.#performIn({ task, payload, signal, token, secrets, output, note })
    } catch (error) {
      if (!(error instanceof RepositoryAway)) throw error
      const postponed = whenBack(await this.#postponed(task.id, signal))
      if (postponed === undefined) throw error
      note(`${error.message}; again in ${postponed.delaySeconds} s`)
      return postponed
    } finally {
      await output.close().finally(() => output.leave())
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

  async #readSecrets({ archive, secrets }: ArchiveTask, signal: AbortSignal): Promise<Record<string, string>> {
    try {
      return await ask(signal, () => this.#at.secrets.read(archive, secrets))
    } catch (error) {
      const { code, message, remedy } = error as { code?: unknown; message: string; remedy?: string }
      if (typeof code !== 'string' || !code.startsWith('secret_')) throw error
      throw new PermanentError(remedy === undefined ? message : `${message}; ${remedy}`, { cause: error })
    }
  }

  async #performIn(attempt: Attempt): Promise<TaskResult | Later> {
    const { task, payload, signal, note } = attempt
    const { scratch, repositories, pausesMs } = this.#at
    const where = { scratch, repositories, ...(pausesMs === undefined ? {} : { pausesMs }) }
    await using room = await openRoom({
      ...where,
      task: task.id,
      epoch: task.epoch,
      work: payload,
      signal,
      onPause: note,
    })
    const committer = this.#committerOf(attempt, room)
    const ending = await this.#run(attempt, room, committer)
    signal.throwIfAborted()
    const isTemporary = ending.type === 'exited' && ending.code === TEMPORARY
    const judged = judge(ending, isTemporary ? await this.#postponed(task.id, signal) : 0)
    if (isLater(judged)) {
      note(`exited with ${TEMPORARY}: again in ${judged.delaySeconds} s`)
      return judged
    }
    const files = await this.#keep(attempt, room, judged.exitCode)
    const result = toResult(judged.exitCode, files, committer)
    // A task that is performed again replaces what it had.
    if (files.length > 0 || task.epoch > 1) this.filesOf.set(result, files)
    if (!signal.aborted) return result
    // A cancel that came too late for the command still comes in time for what it left.
    if (files.length > 0) await dropFiles(this.#at.pool, { task: task.id, attempt: task.epoch }).catch(() => {})
    throw signal.reason
  }

  #keep({ task, payload, signal, note }: Attempt, room: Room, exitCode: number): Promise<StoredFile[]> {
    const patterns = exitCode === SKIPPED ? [] : payload.artifacts
    const { pool, artifactLimits: limits = ARTIFACT_LIMITS } = this.#at
    return keepFiles({ pool, room, patterns, limits, task: task.id, attempt: task.epoch, signal, onNote: note })
  }

  #committerOf({ task, payload, signal }: Attempt, { repository, workspace }: Room): Committer | undefined {
    if (repository === undefined || workspace === undefined) return undefined
    const name = `${payload.archive}@${task.key ?? `${payload.rev.number}:${payload.name}`}`
    const by = this.#at.markerPrefix.replace(/^millrace-|-$/g, '')
    const cause = { name, by, task: task.id, attempt: task.epoch, depth: payload.depth + 1 }
    const isOurs = () => this.#isOurs(task, signal)
    return createCommitter({ repository, workspace, cause, isOurs })
  }

  /** Waits while the lease is lost and the attempt may be resumed. */
  async #isOurs({ id, epoch }: Context['task'], signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const lease = await ask(signal, () => this.#at.millrace.leaseOf(id, epoch))
      if (lease !== 'lost') return lease === 'held'
      await sleep(LOOK_AGAIN_MS, undefined, { signal })
    }
  }

  async #run(attempt: Attempt, room: Room, committer: Committer | undefined): Promise<Ending> {
    const { task, payload: work, signal, output, secrets, token } = attempt
    const { pool, graceMs, program, defaultImage } = this.#at
    const image = work.image ?? defaultImage ?? null
    const runner = image === null ? this.#at.runner : this.#at.containerRunner
    if (runner === undefined) return { type: 'spawn_failed', reason: 'no container engine was found on this host' }
    await using door = committer && (await openCommitDoor(committer, { token, isForContainer: image !== null }))
    const changed = await ask(signal, () => changedPaths(pool, room.repository, work))
    const folder = artifactsOf(room)
    await ask(signal, async () => (await passArtifacts(this.#at, task, { folder, signal })) ?? true)
    const marker = markerOf(this.#prefix, task.id, task.epoch)
    const facts = { work, task: task.id, room, door, image, changed, secrets, token, marker, graceMs, program }
    const command = await prepareCommand({ ...facts, url: await ask(signal, () => this.#at.url()) })
    signal.throwIfAborted()
    const running = await runner.start(command, { sink: output.write })
    // Awaited here: the door is closed when this is left.
    return await attend(running, signal, { graceMs, outlives: false })
  }

  /** How often in a row it has asked for later. */
  async #postponed(task: string, signal: AbortSignal): Promise<number> {
    const attempts = await ask(signal, () => this.#at.millrace.attempts(task))
    const ended = attempts.filter(({ outcome }) => outcome !== null)
    const other = ended.findLastIndex(({ outcome }) => outcome !== 'later')
    return ended.length - 1 - other
  }
}

/** Asks the database, however long it is away: that is no fault of the task. */
async function ask<T>(signal: AbortSignal, body: () => Promise<T>): Promise<T> {
  const answer = await patiently(signal, body)
  signal.throwIfAborted()
  if (answer === undefined) throw new TransientError('the database does not answer')
  return answer
}

function toResult(exitCode: number, files: readonly StoredFile[], committer: Committer | undefined): TaskResult {
  const commits = (committer?.revisions ?? []).map(({ number }) => number)
  return {
    exit_code: exitCode,
    ...(exitCode === SKIPPED ? { skipped: true } : {}),
    ...(files.length > 0 ? { artifacts: files.length } : {}),
    ...(commits.length > 0 ? { commits } : {}),
  }
}
