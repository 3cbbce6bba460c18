import type { Pool } from '../db/index.ts'
import type { Millrace } from '../engine/index.ts'
import type { Repositories } from './repositories.ts'

/** What the verbs of archives work with. */
export type ArchivesContext = {
  readonly pool: Pool
  readonly millrace: Millrace
  /** Commands of one archive and queue that run at once. */
  readonly commandsAtOnce?: number | undefined
  readonly repositories: Repositories
  /** An archive is due: looks for it at once. */
  readonly wake: () => void
}
