// Statements of the output: one that writes a chunk, one per view that reads a range, one that measures.
import { array, bytea, int4, int8, many, maybe, nullable, run } from '../db/index.ts'

/** A chunk that is there already is the same one: its writer did not hear the answer and sends it again. */
export const insertChunk = run('storage.insert_chunk', {
  task: int8,
  attempt: int4,
  start: int8,
  stdout_start: int8,
  stderr_start: int8,
  stdout_length: int4,
  stderr_length: int4,
  runs: nullable(array(int4)),
  bytes: bytea,
})`
  insert into millrace.output
    (task, attempt, start, stdout_start, stderr_start, stdout_length, stderr_length, runs, bytes)
  values (
    ${'task'}, ${'attempt'}, ${'start'}, ${'stdout_start'}, ${'stderr_start'}, ${'stdout_length'}, ${'stderr_length'},
    ${'runs'}, ${'bytes'}
  )
  on conflict (task, attempt, start) do nothing
`

const range = { task: int8, attempt: nullable(int4), from: int8, before: int8, limit: int4 }
const chunk = {
  attempt: int4,
  /** Offset of the chunk in the view that is read, and the end of that view. */
  at: int8,
  size: int8,
  stdout_length: int4,
  stderr_length: int4,
  runs: nullable(array(int4)),
  bytes: bytea,
}

/** The chunks that hold [from, before) of the whole, the one in which `from` lies first. */
export const readMixed = many('storage.read_mixed', range, chunk)`
  with latest as (
    select coalesce(${'attempt'}::int, (select max(o.attempt) from millrace.output o where o.task = ${'task'})) as attempt
  ), first as (
    select max(o.start) as start
    from latest l
      join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt
    where o.start <= ${'from'}
  ), last as (
    select o.start + length(o.bytes) as size
    from latest l
      join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt
    order by o.start desc
    limit 1
  )
  select o.attempt, o.start as at, last.size, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from latest l
    cross join first
    cross join last
    join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt
  where o.start >= first.start and o.start < ${'before'}
  order by o.start
  limit ${'limit'}::int
`

/** As `readMixed`, of stdout alone. */
export const readStdout = many('storage.read_stdout', range, chunk)`
  with latest as (
    select coalesce(${'attempt'}::int, (select max(o.attempt) from millrace.output o where o.task = ${'task'})) as attempt
  ), first as (
    select max(o.stdout_start) as start
    from latest l
      join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt and o.stdout_length > 0
    where o.stdout_start <= ${'from'}
  ), last as (
    select o.stdout_start + o.stdout_length as size
    from latest l
      join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt and o.stdout_length > 0
    order by o.stdout_start desc
    limit 1
  )
  select o.attempt, o.stdout_start as at, last.size, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from latest l
    cross join first
    cross join last
    join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt and o.stdout_length > 0
  where o.stdout_start >= first.start and o.stdout_start < ${'before'}
  order by o.stdout_start
  limit ${'limit'}::int
`

/** As `readMixed`, of stderr alone. */
export const readStderr = many('storage.read_stderr', range, chunk)`
  with latest as (
    select coalesce(${'attempt'}::int, (select max(o.attempt) from millrace.output o where o.task = ${'task'})) as attempt
  ), first as (
    select max(o.stderr_start) as start
    from latest l
      join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt and o.stderr_length > 0
    where o.stderr_start <= ${'from'}
  ), last as (
    select o.stderr_start + o.stderr_length as size
    from latest l
      join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt and o.stderr_length > 0
    order by o.stderr_start desc
    limit 1
  )
  select o.attempt, o.stderr_start as at, last.size, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from latest l
    cross join first
    cross join last
    join millrace.output o on o.task = ${'task'} and o.attempt = l.attempt and o.stderr_length > 0
  where o.stderr_start >= first.start and o.stderr_start < ${'before'}
  order by o.stderr_start
  limit ${'limit'}::int
`

/** How much there is of an attempt, the latest when none is named; its last chunk may be a mark. */
export const measure = maybe(
  'storage.measure',
  { task: int8, attempt: nullable(int4) },
  { attempt: int4, mixed: int8, stdout: int8, stderr: int8 },
)`
  select
    o.attempt,
    o.start + length(o.bytes) as mixed,
    o.stdout_start + o.stdout_length as stdout,
    o.stderr_start + o.stderr_length as stderr
  from millrace.output o
  where o.task = ${'task'}
    and o.attempt = coalesce(${'attempt'}::int, (select max(x.attempt) from millrace.output x where x.task = ${'task'}))
  order by o.start desc
  limit 1
`
