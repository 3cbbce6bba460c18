// The port through which the rest of the program sees repositories. What one folder of a Subversion repository and one
// branch of a git repository have in common is a line of revisions, numbered from 1 without gaps, each a tree of files.
// `repository.suite.ts` says what every implementation does.
import type { RepositoryType } from './location.ts'

/**
 * One revision. Subversion gives the numbers itself; in git they count the first parents from the first commit of the
 * branch, and the id is the commit. Number 0 is the state before the first revision: an empty tree.
 */
export type Revision = { readonly number: number; readonly id: string }

export type EntryKind = 'file' | 'folder' | 'link' | 'submodule'

export type Entry = {
  /** From the top of what was opened, as `read` takes it. */
  readonly path: string
  readonly kind: EntryKind
  /** Of files, in bytes. */
  readonly size?: number
  /** The number of the revision that changed it last, where the repository says so at no cost: Subversion. */
  readonly lastChanged?: number
  /** How git names what lies there, and its mode. */
  readonly object?: { readonly id: string; readonly mode: string }
}

/** What there is to know about a file, a link or a submodule, which has no bytes here. */
export type Content = {
  readonly path: string
  readonly kind: EntryKind
  readonly size?: number
  /** SHA-256 of all its bytes. */
  readonly digest?: Buffer
  /** The first bytes, as many as were asked for. */
  readonly head: Buffer
  readonly lastChanged?: number
  /** As `properties` answers them. */
  readonly properties: Readonly<Record<string, string>>
}

export type Change = {
  readonly path: string
  /** Added, modified, deleted, or replaced by something of the same name. */
  readonly action: 'A' | 'M' | 'D' | 'R'
  readonly kind: EntryKind
  /** Where Subversion says it was copied from; a path that begins with `^/` lies outside what was opened. */
  readonly copyFrom?: { readonly path: string; readonly number: number }
}

export type LogEntry = Revision & {
  readonly author?: string
  readonly authorEmail?: string
  readonly date?: Date
  readonly message: string
  /** The paths that the revision names as changed. A folder that was copied or deleted stands for all below it. */
  readonly changes: readonly Change[]
  /** There are more changes than were asked for, and the rest was left out. */
  readonly isCut: boolean
  /** What Millrace wrote beside the message: `cause` is the marker of the commit. */
  readonly marks: Readonly<Record<string, string>>
}

export type LogRange = {
  /** The last revision that is known; without it, from the first. */
  readonly after?: Revision
  /** The last revision wanted; without it, the youngest. */
  readonly to?: Revision
  readonly limit?: number
  /** Whether to answer changed paths (default), and how many of one revision at most. */
  readonly withChanges?: boolean
  readonly maxChanges?: number
}

export type Workspace = AsyncDisposable & {
  /** The folder with the files, of the part that was opened. */
  readonly path: string
  readonly revision: Revision
  /** The folder of the cache in which the workspace lies. */
  readonly slot: string
  /** Folders elsewhere that programs in the workspace read. */
  readonly needs: readonly string[]
}

export type CommitOptions = {
  readonly message: string
  /** A name, or `Name <address>`. Subversion servers that ask for a password put their user there instead. */
  readonly author?: string
  /** Names the cause of the commit, so that it can be found again: see `findMarker`. */
  readonly marker: string
}

export type FileChange =
  | {
      readonly type: 'put'
      readonly path: string
      readonly content: Uint8Array | { readonly file: string }
      /** Unless given, an existing file stays as it is. */
      readonly isExecutable?: boolean
    }
  | { readonly type: 'delete'; readonly path: string }
  /** Nothing in git, which keeps no empty folders. */
  | { readonly type: 'mkdir'; readonly path: string }

export type ChangesOptions = CommitOptions & {
  readonly changes: readonly FileChange[]
  /** What the changes were made from: whatever of it has changed since makes the commit `OutOfDate`. Without it, the youngest. */
  readonly base?: Revision
}

export interface Repository {
  readonly type: RepositoryType

  /** What makes it this repository and no other: its UUID, or its first commit. Undefined while there is none. */
  identity(): Promise<string | undefined>

  youngest(): Promise<Revision>

  /** The revision with that number. Throws `RevisionNotFound`. */
  revision(number: number): Promise<Revision>

  /**
   * Revisions in order, oldest first. Throws `HistoryRewritten` when `after` is no longer one of them, before it answers
   * any. A consumer that stops early stops the program behind it.
   */
  log(range?: LogRange): AsyncGenerator<LogEntry, void>

  /** What lies in a folder, in no order. A path that does not exist or is no folder holds nothing. */
  list(path: string, revision: Revision, options?: { readonly recursive?: boolean }): AsyncGenerator<Entry, void>

  stat(path: string, revision: Revision): Promise<Entry | undefined>

  /** What lies at the paths, in no order; a path at which nothing lies is left out. */
  find(paths: readonly string[], revision: Revision): AsyncGenerator<Entry, void>

  /**
   * What is in the entries of that revision that are no folders, in no order, read with few programs however many they
   * are. What git holds under a name that is not UTF-8 is left out. Of a large file no more than its head is in memory.
   */
  contents(
    entries: AsyncIterable<Entry> | Iterable<Entry>,
    revision: Revision,
    options?: { readonly headBytes?: number },
  ): AsyncGenerator<Content, void>

  /** The bytes of a file as they are stored. Throws `PathNotFound`, also for a folder, and `FileTooLarge`. */
  read(path: string, revision: Revision, options?: { readonly maxBytes?: number }): Promise<Buffer>

  /** Versioned properties of a path (Subversion), or its `mode` (git). Throws `PathNotFound`. */
  properties(path: string, revision: Revision): Promise<Record<string, string>>

  /** What is different in the tree of `to`, path by path, in no order. Git tells files only. */
  diff(from: Revision, to: Revision): AsyncGenerator<Change, void>

  /**
   * A tree of files at a revision that can be changed and committed. It belongs to the caller alone until it is disposed
   * of; then the next one gets it, clean. One with the same `key` is preferred.
   */
  workspace(wanted: { readonly revision: Revision; readonly key?: string }): Promise<Workspace>

  /**
   * Commits all that is different in the workspace: new files unless the repository ignores them, missing ones as
   * deleted. Answers undefined when there is nothing. Throws `OutOfDate` when others have changed the same files.
   */
  commit(workspace: Workspace, options: CommitOptions): Promise<Revision | undefined>

  /** Makes exactly one revision without a workspace; folders that are missing are made. */
  commitChanges(options: ChangesOptions): Promise<Revision>

  /**
   * The first revision after `since` that carries the marker. An error from a commit may hide that it succeeded, and a
   * process may die before it has written down that it did: look here before the same is committed again.
   */
  findMarker(marker: string, options?: { readonly since?: Revision }): Promise<Revision | undefined>

  /** The same repository, whose programs also end when the signal says so. */
  withSignal(signal: AbortSignal): Repository
}

/** Gathers what a repository answers piece by piece. */
export async function collect<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}
