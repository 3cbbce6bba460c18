import { HistoryRewritten, InvalidChange, PathNotFound, RevisionNotFound, ToolFailed } from './errors.ts'
import { type Branch, commitChanges, commitSlot } from './git-commit.ts'
import { findPaths, readContents } from './git-contents.ts'
import { readLog, rewritten } from './git-log.ts'
import {
  askDefaultBranch,
  askTip,
  checkEmpty,
  ensureMirror,
  fetchBranch,
  identityOfMirror,
  isDamage,
  remakeMirror,
} from './git-mirror.ts'
import { runGit, streamGit } from './git-tool.ts'
import { listFolder, readDiff, readFile, readProperties, statPath } from './git-tree.ts'
import { gitFiller, objectsOf } from './git-workspace.ts'
import { checkBranch } from './location.ts'
import type { ChangesOptions, CommitOptions, Entry, LogRange, Repository, Revision, Workspace } from './repository.ts'
import { nameOf, type Session, sessionWith } from './session.ts'
import { isLive, takeWorkspace } from './workspaces.ts'

const READ_BYTES = 64 * 1024 * 1024
const NOTHING: Revision = { number: 0, id: '0'.repeat(40) }

/** What was learnt once; shared by all views of one repository. */
type Memory = {
  branch?: string
  /** The youngest revision that was seen: from it on, only what is new must be counted. */
  youngest?: Revision
}

export class GitRepository implements Repository {
  readonly type = 'git'
  readonly #session: Session
  readonly #memory: Memory

  constructor(session: Session, memory: Memory = {}) {
    this.#session = session
    this.#memory = memory
  }

  withSignal(signal: AbortSignal): Repository {
    return new GitRepository(sessionWith(this.#session, signal), this.#memory)
  }

  async identity(): Promise<string | undefined> {
    const { number } = await this.youngest()
    return number === 0 ? undefined : (await this.revision(1)).id
  }

  async youngest(): Promise<Revision> {
    await ensureMirror(this.#session)
    const branch = await this.#branch()
    const id = await askTip(this.#session, branch)
    const known = this.#memory.youngest
    if (id !== undefined && id === known?.id) return known
    if (id === undefined) {
      await checkEmpty(this.#session, branch)
      return NOTHING
    }
    const tip = await fetchBranch(this.#session, branch)
    const number = await this.#count(tip)
    this.#memory.youngest = { number, id: tip }
    return this.#memory.youngest
  }

  async revision(number: number): Promise<Revision> {
    const last = await this.youngest()
    if (number === 0) return NOTHING
    if (number === last.number) return last
    if (!Number.isSafeInteger(number) || number < 1 || number > last.number) {
      throw new RevisionNotFound(`${nameOf(this.#session)} has no revision ${number}; the youngest is ${last.number}`)
    }
    return { number, id: await this.#backFrom(last.id, last.number - number) }
  }

  async *log(range: LogRange = {}) {
    const { after, to } = range
    if (after && to && to.number <= after.number) return
    const end = to ?? (await this.youngest())
    if (after && after.id === end.id) return
    await this.#require(end)
    // A known commit that the repository does not have either was part of a history that is gone.
    if (after && after.number > 0 && !(await this.#find(after))) throw rewritten(this.#session, after, end)
    yield* this.#streaming(readLog(this.#session, { ...range, to: end, base: this.#session.path }))
  }

  async *list(path: string, revision: Revision, { recursive = false } = {}) {
    await this.#require(revision)
    yield* this.#streaming(listFolder(this.#session, { ...this.#at(path, revision), isRecursive: recursive }))
  }

  stat(path: string, revision: Revision) {
    return this.#with(revision, () => statPath(this.#session, this.#at(path, revision)))
  }

  async *find(paths: readonly string[], revision: Revision) {
    await this.#require(revision)
    yield* this.#streaming(findPaths(this.#session, { base: this.#session.path, revision }, paths))
  }

  async *contents(entries: AsyncIterable<Entry> | Iterable<Entry>, revision: Revision, { headBytes = 0 } = {}) {
    await this.#require(revision)
    const at = { base: this.#session.path, revision, headBytes }
    yield* this.#streaming(readContents(this.#session, at, entries))
  }

  read(path: string, revision: Revision, { maxBytes = READ_BYTES } = {}) {
    return this.#with(revision, () => readFile(this.#session, { ...this.#at(path, revision), maxBytes }))
  }

  properties(path: string, revision: Revision) {
    return this.#with(revision, () => readProperties(this.#session, this.#at(path, revision)))
  }

  async *diff(from: Revision, to: Revision) {
    await this.#require(from)
    await this.#require(to)
    yield* this.#streaming(readDiff(this.#session, { base: this.#session.path, from, to }))
  }

  async workspace({ revision, key = '' }: { revision: Revision; key?: string }): Promise<Workspace> {
    await this.#require(revision)
    const { path } = this.#session
    if (path !== '' && (await this.stat('', revision))?.kind !== 'folder') {
      throw new PathNotFound(`there is no folder ${path} in ${revision.id}`)
    }
    const filler = gitFiller(this.#session, await this.#branch())
    return this.#healing(() =>
      takeWorkspace(this.#session, filler, { revision, key, path, needs: [objectsOf(this.#session)] }),
    )
  }

  async commit(workspace: Workspace, options: CommitOptions): Promise<Revision | undefined> {
    if (!isLive(workspace)) throw new InvalidChange('the workspace was given back already')
    const committed = await commitSlot(this.#session, await this.#tip(), { ...options, slot: workspace.slot })
    return committed && this.#remember(committed)
  }

  async commitChanges(options: ChangesOptions): Promise<Revision> {
    await ensureMirror(this.#session)
    if (options.base) await this.#require(options.base)
    return this.#remember(await commitChanges(this.#session, await this.#tip(), options))
  }

  async findMarker(marker: string, { since }: { since?: Revision } = {}): Promise<Revision | undefined> {
    for await (const { number, id, marks } of this.log({ ...(since ? { after: since } : {}), withChanges: false })) {
      if (marks['cause'] === marker) return { number, id }
    }
    return undefined
  }

  async #tip(): Promise<Branch> {
    return { name: await this.#branch(), base: this.#session.path, refresh: () => this.youngest() }
  }

  #remember(committed: Revision): Revision {
    this.#memory.youngest = committed
    return committed
  }

  #at(path: string, revision: Revision) {
    return { base: this.#session.path, path, revision }
  }

  async #branch(): Promise<string> {
    this.#memory.branch ??= checkBranch(await askDefaultBranch(this.#session))
    return this.#memory.branch
  }

  /** The number of a commit: how many first parents lead to it, counted from the one that is known already if they do. */
  async #count(tip: string): Promise<number> {
    const known = this.#memory.youngest
    if (known && (await this.#has(known))) {
      let count = 0
      let last = ''
      for await (const line of this.#chain(tip, known.id)) {
        count += 1
        last = line
      }
      if (last.split(' ')[1] === known.id) return known.number + count
    }
    const count = Number((await runGit(this.#session, ['rev-list', '--count', '--first-parent', tip])).toString('utf8'))
    const { identity } = this.#session
    if (identity === undefined) return count
    const first = await this.#backFrom(tip, count - 1)
    if (identity === first) return count
    throw new HistoryRewritten(identity, first, nameOf(this.#session), { isOtherRepository: true })
  }

  async #backFrom(tip: string, steps: number): Promise<string> {
    const args = ['rev-list', '--first-parent', '--max-count=1', `--skip=${steps}`, tip]
    return (await runGit(this.#session, args)).toString('utf8').trim()
  }

  /** The commits after `known`, youngest first, each with its parents. */
  async *#chain(tip: string, known: string): AsyncGenerator<string, void> {
    let rest = ''
    for await (const piece of streamGit(this.#session, ['rev-list', '--first-parent', '--parents', tip, `^${known}`])) {
      const lines = (rest + piece.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  }

  /** Makes sure that the mirror has the commit, and everything it stands on. */
  async #require(revision: Revision): Promise<void> {
    if (await this.#find(revision)) return
    throw new RevisionNotFound(`${nameOf(this.#session)} has no commit ${revision.id}`)
  }

  async #find(revision: Revision): Promise<boolean> {
    if (await this.#has(revision)) return true
    await fetchBranch(this.#session, await this.#branch())
    return this.#has(revision)
  }

  async #has({ number, id }: Revision): Promise<boolean> {
    if (number === 0) return true
    if (!/^[0-9a-f]{40}$/.test(id)) throw new RevisionNotFound(`"${id}" is no commit id`)
    const look = async () => {
      await runGit(this.#session, ['cat-file', '-e', `${id}^{commit}`])
      return true
    }
    try {
      return await this.#healing(look)
    } catch (error) {
      if (error instanceof ToolFailed) return false
      throw error
    }
  }

  async #with<T>(revision: Revision, read: () => Promise<T>): Promise<T> {
    await this.#require(revision)
    return this.#healing(read)
  }

  /** Runs it again on a new mirror when the old one turns out to be damaged. */
  async #healing<T>(run: () => Promise<T>): Promise<T> {
    const mirror = await identityOfMirror(this.#session)
    try {
      return await run()
    } catch (error) {
      if (!isDamage(error)) throw error
      await remakeMirror(this.#session, await this.#branch(), mirror)
      return await run()
    }
  }

  /** The same for what was answered in part already: the caller has to ask again, and then finds a new mirror. */
  async *#streaming<T>(pieces: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
    const mirror = await identityOfMirror(this.#session)
    try {
      yield* pieces
    } catch (error) {
      if (isDamage(error)) await remakeMirror(this.#session, await this.#branch(), mirror)
      throw error
    }
  }
}
