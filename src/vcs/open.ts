import { cacheFolder } from './cache.ts'
import { InvalidRepository } from './errors.ts'
import { GitRepository } from './git.ts'
import { checkBranch, insidePath, locate, type RepositoryType } from './location.ts'
import type { Repository } from './repository.ts'
import type { Credentials, Session } from './session.ts'
import { SvnRepository } from './svn.ts'

export type OpenOptions = {
  readonly type: RepositoryType
  /** `file:`, `svn:`, `http:` or `https:` for Subversion; a path, `file:`, `git:`, `http:` or `https:` for git. */
  readonly url: string
  /** Of git; without it, the one that the repository names as its first. */
  readonly branch?: string
  /** The folder that is the top of all paths. */
  readonly path?: string
  readonly credentials?: Credentials
  /** Where mirrors and workspaces are kept, for all repositories alike: an absolute path on a local disk. */
  readonly cacheDir: string
  /** What `identity()` answered when the repository was first seen. Another one then throws `HistoryRewritten`. */
  readonly identity?: string
  /** The schemes of URLs that are allowed, instead of the usual ones. `ssh` and `svn+ssh` must be named here. */
  readonly schemes?: readonly string[]
  /** What the programs find in their environment beside what they are given: `PATH`, a proxy. */
  readonly environment?: Readonly<Record<string, string>>
  /** How many workspaces are kept for the next user; 0 makes each one from nothing. */
  readonly keepWorkspaces?: number
  /** How long a program may be silent when it answers a question, and when it moves whole trees. */
  readonly answerSeconds?: number
  readonly transferSeconds?: number
  readonly signal?: AbortSignal
}

const PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin'

/** Opens a repository for reading and writing. Nothing is asked or written before the first use. */
export function openRepository(options: OpenOptions): Repository {
  const { type, branch, credentials } = options
  const location = locate(type, options.url, options.schemes)
  const path = insidePath(options.path ?? '')
  if (credentials && /[\p{Cc}]/u.test(credentials.username + credentials.password)) {
    throw new InvalidRepository('name or password hold control characters')
  }
  const facts = [location.url, type === 'svn' ? path : '', credentials?.username ?? '']
  const session: Session = {
    location,
    path,
    credentials,
    folder: cacheFolder(options.cacheDir, type, facts),
    // The programs' words and names are read, so their language is not the user's choice.
    environment: { PATH, ...options.environment, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    answerMs: (options.answerSeconds ?? 60) * 1000,
    transferMs: (options.transferSeconds ?? 3600) * 1000,
    keepWorkspaces: options.keepWorkspaces ?? 4,
    identity: options.identity,
    signal: options.signal,
  }
  if (type === 'svn') return new SvnRepository(session)
  return new GitRepository(session, branch === undefined ? {} : { branch: checkBranch(branch) })
}
