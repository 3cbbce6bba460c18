import { HistoryRewritten, InvalidChange, OutOfDate, RevisionNotFound } from './errors.ts'
import { decodePath, encodePath, joinPath } from './location.ts'
import {
  type ChangesOptions,
  type CommitOptions,
  collect,
  type Entry,
  type LogRange,
  type Repository,
  type Revision,
  type Workspace,
} from './repository.ts'
import { nameOf, type Session, sessionWith } from './session.ts'
import { commitChanges } from './svn-changes.ts'
import { commitWorkspace } from './svn-commit.ts'
import { findPaths, readContents } from './svn-contents.ts'
import { readLog } from './svn-log.ts'
import { readSvn } from './svn-tool.ts'
import { listFolder, readDiff, readFile, readProperties, statPath } from './svn-tree.ts'
import { svnFiller } from './svn-workspace.ts'
import { isLive, takeWorkspace } from './workspaces.ts'
import { child, textOf } from './xml.ts'

const READ_BYTES = 64 * 1024 * 1024
const ATTEMPTS = 5 // of a commit without a base, when others commit to the same files meanwhile

type Origin = {
  readonly uuid: string
  /** The URL of the repository itself. */
  readonly root: string
  /** The URL of the folder that is the top of all paths, and that folder from the root. */
  readonly base: string
  readonly basePath: string
}

/** What was learnt once; shared by all views of one repository. */
type Memory = { origin?: Origin }

export class SvnRepository implements Repository {
  readonly type = 'svn'
  readonly #session: Session
  readonly #memory: Memory

  constructor(session: Session, memory: Memory = {}) {
    this.#session = session
    this.#memory = memory
  }

  withSignal(signal: AbortSignal): Repository {
    return new SvnRepository(sessionWith(this.#session, signal), this.#memory)
  }

  async identity(): Promise<string> {
    return (await this.#origin()).uuid
  }

  async youngest(): Promise<Revision> {
    const { root } = await this.#origin()
    const { uuid, number } = await this.#ask(root)
    this.#check(uuid)
    return { number, id: String(number) }
  }

  async revision(number: number): Promise<Revision> {
    const { number: last } = await this.youngest()
    if (Number.isSafeInteger(number) && number >= 0 && number <= last) return { number, id: String(number) }
    throw new RevisionNotFound(`${nameOf(this.#session)} has no revision ${number}; the youngest is ${last}`)
  }

  async *log(range: LogRange = {}) {
    const { root, basePath } = await this.#origin()
    const youngest = async () => (await this.youngest()).number
    yield* readLog(this.#session, { ...range, root, base: basePath, youngest })
  }

  async *list(path: string, revision: Revision, { recursive = false } = {}) {
    const { base } = await this.#origin()
    yield* listFolder(this.#session, base, { path, revision, isRecursive: recursive })
  }

  async stat(path: string, revision: Revision) {
    return statPath(this.#session, (await this.#origin()).base, { path, revision })
  }

  async *find(paths: readonly string[], revision: Revision) {
    yield* findPaths(this.#session, { base: (await this.#origin()).base, revision }, paths)
  }

  async *contents(entries: AsyncIterable<Entry> | Iterable<Entry>, revision: Revision, { headBytes = 0 } = {}) {
    const { base } = await this.#origin()
    yield* readContents(this.#session, { base, revision, headBytes }, entries)
  }

  async read(path: string, revision: Revision, { maxBytes = READ_BYTES } = {}) {
    return readFile(this.#session, (await this.#origin()).base, { path, revision, maxBytes })
  }

  async properties(path: string, revision: Revision) {
    return readProperties(this.#session, (await this.#origin()).base, { path, revision })
  }

  async *diff(from: Revision, to: Revision) {
    yield* readDiff(this.#session, (await this.#origin()).base, { from, to })
  }

  async workspace({ revision, key = '' }: { revision: Revision; key?: string }): Promise<Workspace> {
    const { base } = await this.#origin()
    return takeWorkspace(this.#session, svnFiller(this.#session, base), { revision, key, path: '', needs: [] })
  }

  async commit(workspace: Workspace, options: CommitOptions): Promise<Revision | undefined> {
    if (!isLive(workspace)) throw new InvalidChange('the workspace was given back already')
    await this.#origin() // still the same repository
    return commitWorkspace(this.#session, workspace, options)
  }

  async commitChanges(options: ChangesOptions): Promise<Revision> {
    const { base } = await this.#origin()
    for (let attempt = 1; ; attempt++) {
      try {
        return await commitChanges(this.#session, base, { ...options, base: options.base ?? (await this.youngest()) })
      } catch (error) {
        const mayTryAgain = error instanceof OutOfDate && options.base === undefined && attempt < ATTEMPTS
        if (!mayTryAgain) throw error
      }
    }
  }

  async findMarker(marker: string, { since }: { since?: Revision } = {}): Promise<Revision | undefined> {
    for await (const { number, id, marks } of this.log({ ...(since ? { after: since } : {}), withChanges: false })) {
      if (marks['cause'] === marker) return { number, id }
    }
    return undefined
  }

  async #origin(): Promise<Origin> {
    const { location, path } = this.#session
    if (this.#memory.origin) return this.#memory.origin
    const { uuid, root, relative } = await this.#ask(location.url)
    const basePath = joinPath(relative, path)
    const base = basePath === '' ? root : `${root}/${encodePath(basePath)}`
    this.#check(uuid)
    this.#memory.origin = { uuid, root, base, basePath }
    return this.#memory.origin
  }

  async #ask(url: string) {
    const [element] = await collect(readSvn(this.#session, ['info', `${url}@`], ['entry']))
    const repository = element && child(element, 'repository')
    return {
      uuid: (repository && textOf(repository, 'uuid')) ?? '',
      root: (repository && textOf(repository, 'root')) ?? '',
      relative: decodePath((element && textOf(element, 'relative-url'))?.replace(/^\^\//, '') ?? ''),
      number: Number(element?.attributes['revision']),
    }
  }

  /** The same address may hold another repository tomorrow, with other revisions under the same numbers. */
  #check(uuid: string): void {
    const known = this.#session.identity ?? this.#memory.origin?.uuid ?? uuid
    if (known === uuid) return
    const [was, is] = [`repository ${known}`, `repository ${uuid}`]
    throw new HistoryRewritten(was, is, nameOf(this.#session), { isOtherRepository: true })
  }
}
