// The notice that a revision was committed. It is a hint: it is stored and wakes the planner, and never asks the
// repository. Notices come in any order, twice, or not at all.
import { scopeOf } from './archive.ts'
import { storeNotice } from './archives.sql.ts'
import type { ArchivesContext } from './context.ts'
import { InvalidArchive, NoticeDiffers } from './errors.ts'
import { find } from './find.ts'
import { storable } from './plan-revision.ts'
import type { NoticeContent } from './stretches.ts'

export type Notice = {
  /** The number, or in git also the commit. */
  readonly rev: number | string
  readonly txn?: string | undefined
  readonly actor: string
  /** What the revision holds, for an archive that has no repository. */
  readonly tasks?: readonly unknown[] | undefined
  readonly files?: readonly { readonly path: string; readonly text: string }[] | undefined
  readonly author?: string | undefined
  readonly message?: string | undefined
  readonly date?: string | undefined
  readonly paths?: readonly string[] | undefined
}

/** Answers whether the revision was known already. */
export async function arrive(context: ArchivesContext, name: string, notice: Notice): Promise<{ isKnown: boolean }> {
  const archive = await find(context.pool, name)
  const number = typeof notice.rev === 'number' ? notice.rev : undefined
  const isPush = archive.source.type === 'push'
  if (number === undefined && archive.source.type !== 'git')
    throw new InvalidArchive(`revisions of archive "${name}" have numbers, and "${notice.rev}" is none`)
  const content = isPush ? JSON.stringify(toContent(notice)) : null
  const { is_known: isKnown, is_same: isSame } = await storeNotice(context.pool, {
    archive: archive.id,
    rev: String(notice.rev),
    number: number === undefined ? null : String(number),
    txn: notice.txn === undefined ? null : storable(notice.txn),
    actor: notice.actor,
    content,
  })
  if (!isSame) throw new NoticeDiffers(name, String(notice.rev))
  if (isKnown) return { isKnown }
  // What comes next is planned at once and told then. What has to wait would be known to nobody.
  const isNext = number === archive.planned.number + 1 && archive.state === 'active'
  if (number !== undefined && number > archive.planned.number && !isNext)
    await context.millrace.publish({ name: 'revision.announced', scope: scopeOf(name), detail: { rev: number } })
  context.wake()
  return { isKnown }
}

/** Tasks are a workflow file like any other, so that they are checked like one. */
function toContent({ tasks, files = [], author, message, date, paths }: Notice): NoticeContent {
  const own = tasks === undefined ? [] : [{ path: '_workflows/notice.json', text: JSON.stringify(tasks, null, 2) }]
  return {
    author: author === undefined ? null : storable(author),
    date: date ?? null,
    message: storable(message ?? ''),
    paths: (paths ?? []).map(storable),
    files: [...own, ...files].map(({ path, text }) => ({ path: storable(path), text: storable(text) })),
  }
}
