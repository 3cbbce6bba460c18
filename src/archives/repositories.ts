import type { Repository } from '../vcs/index.ts'

export type Repositories = { of(archive: string): Promise<Repository> }
