import type { Location } from './location.ts'

export type Credentials = { readonly username: string; readonly password: string }

/** What an opened repository knows about itself; the same for both programs. */
export type Session = {
  readonly location: Location
  /** The folder below the URL that is the top of all paths. */
  readonly path: string
  readonly credentials: Credentials | undefined
  /** The folder of the cache that belongs to this repository alone. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  /** How long a program may be silent: when it answers a question, and when it moves whole trees. */
  readonly answerMs: number
  readonly transferMs: number
  readonly keepWorkspaces: number
  /** What `identity()` was when the caller first saw the repository. */
  readonly identity: string | undefined
  readonly signal: AbortSignal | undefined
}

/** The session for a caller with a signal of its own. */
export function sessionWith(session: Session, signal: AbortSignal): Session {
  return { ...session, signal: session.signal ? AbortSignal.any([session.signal, signal]) : signal }
}

/** The repository as a message may name it. */
export const nameOf = ({ location, path }: Session) => (path === '' ? location.url : `${location.url} (${path})`)

/** What to do where there is no repository: of one on the server's disk a wrong path is the usual reason. */
export function remedyOfAbsence({ location }: Session, program: 'svn' | 'git'): string | undefined {
  if (location.scheme !== 'file') return undefined
  const create = program === 'svn' ? 'svnadmin create' : 'git init --bare'
  return `give the path of a repository on the disk of the server, or make one with \`${create} PATH\``
}
