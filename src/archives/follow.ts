// Keeps every archive planned: whoever is due is taken by one planner at a time, over all servers, and looked at. A
// notice makes an archive due at once, and without any notice it becomes due by itself. Archives do not wait for each
// other but for a free place.
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Pool } from '../db/index.ts'
import type { Millrace } from '../engine/index.ts'
import { HistoryRewritten } from '../vcs/index.ts'
import type { Source } from './archive.ts'
import { toArchiveProblem } from './archive-problem.ts'
import {
  breakArchive,
  claimArchives,
  failLook,
  learnIdentity,
  releaseArchive,
  renewClaim,
  restoreArchive,
  sawYoungest,
} from './archives.sql.ts'
import type { RevisionRef } from './payload.ts'
import { planRevisions } from './plan-revision.ts'
import type { Repositories } from './repositories.ts'
import { ahead, cut, fromNotices, fromRepository } from './stretches.ts'
import { loadFiles } from './workflow-files.ts'

export type FollowOptions = {
  readonly pool: Pool
  readonly millrace: Millrace
  readonly commandsAtOnce?: number | undefined
  readonly repositories: Repositories
  /** How long an archive goes without a look when nobody announces anything. */
  readonly pollSeconds: number
  /** Archives that are looked at at once. */
  readonly concurrency?: number
  /** How long a planner that is silent keeps an archive. */
  readonly leaseSeconds?: number
  readonly onError: (error: Error) => void
}

type Claimed = Awaited<ReturnType<typeof claimArchives>>[number]

const TICK_MS = 1_000 // for what other servers were told and cannot do
const LONGEST_DELAY = 30 // seconds until a repository that could not be read is tried again
const TURN_MS = 2_000 // then another archive has its turn, if one waits

export class Follower {
  readonly #options: FollowOptions & Required<Pick<FollowOptions, 'concurrency' | 'leaseSeconds'>>
  readonly #name = randomUUID()
  readonly #stopped = new AbortController()
  readonly #turns = new Set<Promise<void>>()
  #isCrowded = false
  #running: Promise<void> | undefined
  #isWoken = false
  #wake: () => void = () => {}

  constructor(options: FollowOptions) {
    this.#options = { concurrency: 8, leaseSeconds: 10, ...options }
    // Every program that runs for an archive listens to it.
    setMaxListeners(0, this.#stopped.signal)
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Looks at once for archives that are due. */
  wake(): void {
    this.#isWoken = true
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    this.wake()
    await this.#running
    await Promise.all(this.#turns)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      this.#isWoken = false
      try {
        await this.#fill()
      } catch (error) {
        this.#options.onError(error as Error)
      }
      if (!this.#isWoken) await this.#nextWake()
    }
  }

  /** Takes as many of those that are due as there are places. */
  async #fill(): Promise<void> {
    const { pool, pollSeconds, concurrency, leaseSeconds } = this.#options
    const limit = concurrency - this.#turns.size
    this.#isCrowded = limit <= 0
    if (limit <= 0) return
    const claimed = await claimArchives(pool, { planner: this.#name, seconds: leaseSeconds, poll: pollSeconds, limit })
    for (const archive of claimed) {
      const turn: Promise<void> = this.#turn(archive).finally(() => {
        this.#turns.delete(turn)
        this.wake()
      })
      this.#turns.add(turn)
    }
    this.#isCrowded = this.#turns.size >= concurrency
  }

  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TICK_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** One look at an archive. It never throws. */
  async #turn(claimed: Claimed): Promise<void> {
    const { pool, leaseSeconds, onError } = this.#options
    const which = { archive: claimed.id, planner: this.#name }
    let archive: Claimed | undefined = claimed
    const renewal = setInterval(
      () => {
        renewClaim(pool, { ...which, seconds: leaseSeconds }).catch(onError)
      },
      (leaseSeconds * 1000) / 3,
    )
    try {
      if (claimed.is_replaced) archive = await this.#restore(claimed)
      const again = archive !== undefined && (await this.#plan(archive))
      await releaseArchive(pool, { ...which, again })
    } catch (error) {
      await this.#fail(archive ?? claimed, error as Error).catch(onError)
    } finally {
      clearInterval(renewal)
    }
  }

  async #fail(archive: Claimed, error: Error): Promise<void> {
    const { pool, pollSeconds, repositories, onError } = this.#options
    const which = { archive: archive.id, planner: this.#name }
    if (this.#stopped.signal.aborted) return releaseArchive(pool, { ...which, again: true })
    const problem = JSON.stringify(toArchiveProblem(error))
    if (error instanceof HistoryRewritten) {
      await breakArchive(pool, { archive: archive.id, version: archive.version, problem })
      repositories.forget(archive.name)
      return releaseArchive(pool, { ...which, again: false })
    }
    repositories.forget(archive.name)
    if (!('isRetryable' in error)) onError(error)
    return failLook(pool, { ...which, problem, delay: Math.min(pollSeconds, LONGEST_DELAY) })
  }

  /** Goes on where the repository has come back; undefined where it has not. Throws `HistoryRewritten` for another one. */
  async #restore(archive: Claimed): Promise<Claimed | undefined> {
    const { pool, repositories } = this.#options
    const repository = (await repositories.of(archive.name)).withSignal(this.#stopped.signal)
    await repository.youngest()
    if ((await repository.identity()) !== archive.identity) return undefined
    const restored = await restoreArchive(pool, { archive: archive.id, version: archive.version })
    return restored && { ...archive, version: restored.version }
  }

  /** Plans what there is after the cursor; true when there is more, and others are to have their turn first. */
  async #plan(archive: Claimed): Promise<boolean> {
    const { pool, millrace, commandsAtOnce } = this.#options
    const began = Date.now()
    const source = archive.source as Source
    let after: RevisionRef = { number: Number(archive.planned_number), id: archive.planned_id }
    const about = { id: archive.id, name: archive.name, branch: ('branch' in source && source.branch) || '' }
    for await (const { revisions, defined } of ahead(cut(this.#read(archive, after)))) {
      if (this.#stopped.signal.aborted) return true
      const last = revisions.at(-1) ?? after
      // Somebody else was at it: whoever takes it next begins from where the cursor is by now.
      if (!(await planRevisions({ pool, millrace, commandsAtOnce }, { archive: about, after, revisions, defined })))
        return true
      after = { number: last.number, id: last.id }
      if (this.#isCrowded && Date.now() - began > TURN_MS) return true
    }
    if (source.type !== 'push' && !archive.is_set_back) await this.#note(archive, after)
    return false
  }

  async #note(archive: Claimed, { number, id }: RevisionRef): Promise<void> {
    const { pool, repositories } = this.#options
    await sawYoungest(pool, { archive: archive.id, number: String(number), id })
    if (archive.identity !== null || number === 0) return
    const identity = await (await repositories.of(archive.name)).identity()
    if (identity !== undefined) await learnIdentity(pool, { archive: archive.id, identity })
  }

  async *#read(archive: Claimed, after: RevisionRef) {
    const { pool, repositories } = this.#options
    const source = archive.source as Source
    if (source.type === 'push') return yield* fromNotices(pool, archive.id, after)
    const known = archive.definition === null ? undefined : await loadFiles(pool, archive.definition)
    const repository = (await repositories.of(archive.name)).withSignal(this.#stopped.signal)
    try {
      yield* fromRepository(repository, { after, known, isExpected: archive.is_announced })
    } catch (error) {
      // It was set back, and somebody has said that this is how it is to be.
      if (!(error instanceof HistoryRewritten && archive.is_set_back)) throw error
    }
  }
}
