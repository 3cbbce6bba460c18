import { bool, int8, jsonb, many, maybe, text } from '../db/index.ts'

/**
 * The revisions whose changes a task has to take into account: those after the last one at which a task of its name
 * succeeded, or from the first one that had such a task, up to its own.
 */
export const listUncovered = many(
  'archives.list_uncovered',
  { archive: text, name: text, number: int8 },
  { number: int8, id: text, changes: jsonb, changes_cut: bool },
)`
  with archive as (
    select id
    from millrace.archive
    where name = ${'archive'}
  ),
  covered as (
    select coalesce(
      (
        select had.number
        from archive
        join millrace.archive_task as had on had.archive = archive.id
        join millrace.done on done.id = had.task
        where had.name = ${'name'} and had.number < ${'number'} and done.state = 'succeeded'
        order by had.number desc
        limit 1
      ),
      (
        select min(had.number) - 1
        from archive
        join millrace.archive_task as had on had.archive = archive.id
        where had.name = ${'name'} and had.number <= ${'number'}
      ),
      ${'number'} - 1
    ) as number
  )
  select revision.number, revision.id, revision.changes, revision.changes_cut
  from archive
  cross join covered
  join millrace.revision on revision.archive = archive.id
  where revision.number > covered.number and revision.number <= ${'number'}
  order by revision.number
`

export const readRevisionId = maybe('archives.read_revision_id', { archive: text, number: int8 }, { id: text })`
  select revision.id
  from millrace.archive
  join millrace.revision on revision.archive = archive.id
  where archive.name = ${'archive'} and revision.number = ${'number'}
`
