// Statements of runs by hand, and of asking for tasks of a revision again.
import { int8, many, maybe, nullable, text } from '../db/index.ts'

/** The newest planned revision, the one with that number, or the one with that id. */
export const findRevision = maybe(
  'runs.find_revision',
  { archive: text, number: nullable(int8), id: nullable(text) },
  { archive: int8, number: int8 },
)`
  select revision.archive, revision.number
  from millrace.archive
    join millrace.revision on revision.archive = archive.id
      and (${'id'}::text is null or revision.id = ${'id'})
      and (${'id'}::text is not null or revision.number = coalesce(${'number'}, archive.planned_number))
  where archive.name = ${'archive'} and archive.state <> 'removed'
  order by revision.number desc
  limit 1
`

/** Tasks of one run at a revision, with their state where they are over. */
export const tasksOfRun = many(
  'runs.tasks',
  { archive: int8, number: int8, run: text },
  { task: int8, name: text, state: nullable(text) },
)`
  select task.task, task.name, done.state::text as state
  from millrace.archive_task task
    left join millrace.done on done.id = task.task
  where task.archive = ${'archive'} and task.number = ${'number'} and task.run = ${'run'} and task.workflow is not null
  order by task.task
`
