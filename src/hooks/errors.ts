/** The folder is not a repository of that kind. */
export class NotARepository extends Error {
  readonly code = 'not_a_repository'
  readonly remedy: string
  constructor(kind: 'svn' | 'git', path: string) {
    super(`there is no ${kind} repository at ${path}`)
    this.remedy =
      kind === 'svn'
        ? 'name the folder that `svnadmin create` made, on the host of the repository'
        : 'name a bare repository, or a folder with .git in it'
  }
}

/** The hook file, or something beside it, cannot be changed without harm to somebody else. */
export class HookRefused extends Error {
  readonly code = 'hook_refused'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}

/** The repository has no hook of ours, or none for that archive. */
export class NoHook extends Error {
  readonly code = 'hook_not_found'
  readonly remedy = 'put one there with `millrace hook install`'
  constructor(path: string, archive?: string) {
    const what = archive === undefined ? 'no hook of Millrace' : `no hook for the archive ${JSON.stringify(archive)}`
    super(`${path} has ${what}`)
  }
}

const DENIED = ['EACCES', 'EPERM', 'EROFS']

/** Does something to files of a repository; that this user may not is told as a refusal. */
export async function orRefuse<T>(path: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!DENIED.includes(code)) throw error
    throw new HookRefused(
      `this user may not do that in ${path} (${code})`,
      'do it as root, or as the user to whom the repository belongs',
    )
  }
}
