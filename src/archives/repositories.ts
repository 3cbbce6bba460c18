import type { Pool } from '../db/index.ts'
import { openRepository, type Repository } from '../vcs/index.ts'
import { type RepositorySource, type Source, toArchive } from './archive.ts'
import { findArchive } from './archives.sql.ts'
import { ArchiveNotFound, InvalidArchive, NoRepository } from './errors.ts'

/** The values of secrets by name, for one archive. */
export type ReadSecrets = (archive: string, names: readonly string[]) => Promise<Readonly<Record<string, string>>>

export type Repositories = {
  /** The repository of an archive. Throws `ArchiveNotFound` and `NoRepository`. */
  of(archive: string): Promise<Repository>
  /** A repository that is not registered, or not so. */
  open(archive: string, source: RepositorySource, identity?: string): Promise<Repository>
  /** Opens it anew the next time: its name or password may be another by now. */
  forget(archive: string): void
}

export type RepositoriesOptions = {
  readonly pool: Pool
  /** Where mirrors and workspaces are kept. */
  readonly cacheDir: string
  readonly readSecrets?: ReadSecrets | undefined
}

/** One repository for each archive, kept while the archive stays as it is: what it has learnt is not asked again. */
export function createRepositories({ pool, cacheDir, readSecrets }: RepositoriesOptions): Repositories {
  const kept = new Map<string, { readonly version: number; readonly repository: Repository }>()

  const open: Repositories['open'] = async (archive, source, identity) => {
    const { type, url, branch, path, credentials } = source
    return openRepository({
      type,
      url,
      cacheDir,
      ...(branch === undefined ? {} : { branch }),
      ...(path === undefined ? {} : { path }),
      ...(identity === undefined ? {} : { identity }),
      ...(credentials === undefined ? {} : { credentials: await login(archive, credentials) }),
    })
  }

  const login = async (archive: string, { username, password }: { username: string; password: string }) => {
    if (readSecrets === undefined) throw new InvalidArchive('this server keeps no secrets')
    const values = await readSecrets(archive, [username, password])
    return { username: values[username] ?? '', password: values[password] ?? '' }
  }

  return {
    open,
    forget: (archive) => void kept.delete(archive),
    async of(name) {
      const row = await findArchive(pool, { name })
      if (row === undefined || row.state === 'removed') throw new ArchiveNotFound(name)
      const { source, identity, version } = toArchive(row)
      const known = kept.get(name)
      if (known?.version === version) return known.repository
      const repository = await open(name, readable(name, source), identity ?? undefined)
      kept.set(name, { version, repository })
      return repository
    },
  }
}

/** The source as one that can be read. Throws `NoRepository`. */
export function readable(archive: string, source: Source): RepositorySource {
  if (source.type === 'push') throw new NoRepository(archive)
  return source
}
