import { HistoryRewritten, RepositoryError } from '../vcs/index.ts'
import type { ArchiveProblem } from './archive.ts'

const ACCEPT =
  'look whether that was intended; if it was, go on from what there is now with `millrace archive catch-up NAME --accept rewritten`'

/** The code of a problem that ends when the repository of the archive is back. */
export const OTHER_REPOSITORY = 'other_repository'

const PUT_BACK =
  'put the repository of the archive back: planning then goes on by itself; to follow this one instead, run `millrace archive catch-up NAME --accept rewritten`'

/** What keeps an archive from going on, as it is stored and shown. */
export function toArchiveProblem(error: Error): Omit<ArchiveProblem, 'since'> {
  if (error instanceof HistoryRewritten && error.isOtherRepository)
    return { code: OTHER_REPOSITORY, message: error.message, remedy: PUT_BACK }
  if (error instanceof HistoryRewritten) return { code: error.code, message: error.message, remedy: ACCEPT }
  if (error instanceof RepositoryError)
    return { code: error.code, message: error.message, remedy: error.remedy ?? null }
  const { code, remedy } = error as { code?: unknown; remedy?: unknown }
  return {
    code: typeof code === 'string' && /^[a-z_]+$/.test(code) ? code : 'planning_failed',
    message: error.message.slice(0, 1000),
    remedy: typeof remedy === 'string' ? remedy : null,
  }
}
