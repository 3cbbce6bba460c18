// Statements of the output: one that writes a chunk, one per view that reads a range, one that measures.
import { array, bytea, int4, int8, many, maybe, nullable, run, timestamptz } from '../db/index.ts'

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
  lines: int8,
  stdout_lines: int8,
  stderr_lines: int8,
  error_at: nullable(int4),
})`
  insert into millrace.output (
    task, attempt, start, stdout_start, stderr_start, stdout_length, stderr_length, runs, bytes,
    lines, stdout_lines, stderr_lines, error_at
  )
  values (
    ${'task'}, ${'attempt'}, ${'start'}, ${'stdout_start'}, ${'stderr_start'}, ${'stdout_length'}, ${'stderr_length'},
    ${'runs'}, ${'bytes'}, ${'lines'}, ${'stdout_lines'}, ${'stderr_lines'}, ${'error_at'}
  )
  on conflict (task, attempt, start) do nothing
`

// Bounds are subqueries of their own, each one step in an index. Joined instead, they are worked out for every chunk.
const range = { task: int8, attempt: int4, from: int8, before: int8, limit: int4 }
const chunk = {
  /** Offset of the chunk in the view that is read, and the end of that view. */
  at: int8,
  size: int8,
  stdout_length: int4,
  stderr_length: int4,
  runs: nullable(array(int4)),
  bytes: bytea,
  stored_at: timestamptz,
}

/** The chunks that hold [from, before) of the whole, the one in which `from` lies first. */
export const readMixed = many('storage.read_mixed', range, chunk)`
  select
    o.start as at,
    (
      select last.start + length(last.bytes)
      from millrace.output last
      where last.task = ${'task'} and last.attempt = ${'attempt'}
      order by last.start desc
      limit 1
    ) as size,
    o.stdout_length, o.stderr_length, o.runs, o.bytes, o.at as stored_at
  from millrace.output o
  where o.task = ${'task'}
    and o.attempt = ${'attempt'}
    and o.start >= (
      select first.start
      from millrace.output first
      where first.task = ${'task'} and first.attempt = ${'attempt'} and first.start <= ${'from'}
      order by first.start desc
      limit 1
    )
    and o.start < ${'before'}
  order by o.start
  limit ${'limit'}::int
`

/** As `readMixed`, of stdout alone. */
export const readStdout = many('storage.read_stdout', range, chunk)`
  select
    o.stdout_start as at,
    (
      select last.stdout_start + last.stdout_length
      from millrace.output last
      where last.task = ${'task'} and last.attempt = ${'attempt'} and last.stdout_length > 0
      order by last.stdout_start desc
      limit 1
    ) as size,
    o.stdout_length, o.stderr_length, o.runs, o.bytes, o.at as stored_at
  from millrace.output o
  where o.task = ${'task'}
    and o.attempt = ${'attempt'} and o.stdout_length > 0
    and o.stdout_start >= (
      select first.stdout_start
      from millrace.output first
      where first.task = ${'task'} and first.attempt = ${'attempt'} and first.stdout_length > 0 and first.stdout_start <= ${'from'}
      order by first.stdout_start desc
      limit 1
    )
    and o.stdout_start < ${'before'}
  order by o.stdout_start
  limit ${'limit'}::int
`

/** As `readMixed`, of stderr alone. */
export const readStderr = many('storage.read_stderr', range, chunk)`
  select
    o.stderr_start as at,
    (
      select last.stderr_start + last.stderr_length
      from millrace.output last
      where last.task = ${'task'} and last.attempt = ${'attempt'} and last.stderr_length > 0
      order by last.stderr_start desc
      limit 1
    ) as size,
    o.stdout_length, o.stderr_length, o.runs, o.bytes, o.at as stored_at
  from millrace.output o
  where o.task = ${'task'}
    and o.attempt = ${'attempt'} and o.stderr_length > 0
    and o.stderr_start >= (
      select first.stderr_start
      from millrace.output first
      where first.task = ${'task'} and first.attempt = ${'attempt'} and first.stderr_length > 0 and first.stderr_start <= ${'from'}
      order by first.stderr_start desc
      limit 1
    )
    and o.stderr_start < ${'before'}
  order by o.stderr_start
  limit ${'limit'}::int
`

export const latestAttempt = maybe('storage.latest_attempt', { task: int8 }, { attempt: int4 })`
  select o.attempt
  from millrace.output o
  where o.task = ${'task'}
  order by o.attempt desc
  limit 1
`

/** How much there is of an attempt; its last chunk may be a mark. */
export const measure = maybe(
  'storage.measure',
  { task: int8, attempt: int4 },
  { mixed: int8, stdout: int8, stderr: int8 },
)`
  select
    o.start + length(o.bytes) as mixed,
    o.stdout_start + o.stdout_length as stdout,
    o.stderr_start + o.stderr_length as stderr
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'}
  order by o.start desc
  limit 1
`
