// Statements of the lines of output: one per view that finds where a line ends, and those that count what was not counted.
import { array, bytea, int4, int8, many, maybe, nullable, run } from '../db/index.ts'

const of = { task: int8, attempt: int4, line: int8 }
const chunk = {
  /** Offset of the chunk in the view. */
  at: int8,
  /** Line feeds of the view up to the chunk's end. */
  lines: nullable(int8),
  stdout_length: int4,
  stderr_length: int4,
  runs: nullable(array(int4)),
  bytes: bytea,
}

/** The chunk that holds the line feed of this number; none when there are fewer. */
export const findMixedLine = maybe('storage.find_mixed_line', of, chunk)`
  select o.start as at, o.lines, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.lines >= ${'line'}
  order by o.lines, o.start
  limit 1
`

export const findStdoutLine = maybe('storage.find_stdout_line', of, chunk)`
  select o.stdout_start as at, o.stdout_lines as lines, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.stdout_length > 0 and o.stdout_lines >= ${'line'}
  order by o.stdout_lines, o.stdout_start
  limit 1
`

export const findStderrLine = maybe('storage.find_stderr_line', of, chunk)`
  select o.stderr_start as at, o.stderr_lines as lines, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.stderr_length > 0 and o.stderr_lines >= ${'line'}
  order by o.stderr_lines, o.stderr_start
  limit 1
`

const whole = { task: int8, attempt: int4 }

/** The last chunk that has bytes of the view. */
export const lastMixed = maybe('storage.last_mixed', whole, chunk)`
  select o.start as at, o.lines, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'}
  order by o.start desc
  limit 1
`

export const lastStdout = maybe('storage.last_stdout', whole, chunk)`
  select o.stdout_start as at, o.stdout_lines as lines, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.stdout_length > 0
  order by o.stdout_start desc
  limit 1
`

export const lastStderr = maybe('storage.last_stderr', whole, chunk)`
  select o.stderr_start as at, o.stderr_lines as lines, o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.stderr_length > 0
  order by o.stderr_start desc
  limit 1
`

/** The first chunks in which a line looks like an error. */
export const findErrors = many(
  'storage.find_errors',
  { ...whole, limit: int4 },
  {
    start: int8,
    stdout_start: int8,
    stderr_start: int8,
    lines: nullable(int8),
    stdout_lines: nullable(int8),
    stderr_lines: nullable(int8),
    stdout_length: int4,
    stderr_length: int4,
    runs: nullable(array(int4)),
    bytes: bytea,
  },
)`
  select o.start, o.stdout_start, o.stderr_start, o.lines, o.stdout_lines, o.stderr_lines,
    o.stdout_length, o.stderr_length, o.runs, o.bytes
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.error_at is not null
  order by o.start
  limit ${'limit'}::int
`

const counts = { mixed: nullable(int8), stdout: nullable(int8), stderr: nullable(int8) }

/** Line feeds up to the end of the last chunk; null: they were not counted. */
export const lastCount = maybe('storage.last_count', whole, counts)`
  select o.lines as mixed, o.stdout_lines as stdout, o.stderr_lines as stderr
  from millrace.output o
  where o.task = ${'task'} and o.attempt = ${'attempt'}
  order by o.start desc
  limit 1
`

/** The first chunks that were not counted, each with the line feeds up to the last that was, all of one moment. */
export const readUncounted = many(
  'storage.read_uncounted',
  { ...whole, limit: int4 },
  {
    start: int8,
    stdout_length: int4,
    stderr_length: int4,
    runs: nullable(array(int4)),
    bytes: bytea,
    ...counts,
  },
)`
  select o.start, o.stdout_length, o.stderr_length, o.runs, o.bytes, counted.mixed, counted.stdout, counted.stderr
  from millrace.output o
    left join (
      select c.lines as mixed, c.stdout_lines as stdout, c.stderr_lines as stderr
      from millrace.output c
      where c.task = ${'task'} and c.attempt = ${'attempt'} and c.lines is not null
      order by c.lines desc, c.start desc
      limit 1
    ) counted on true
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.lines is null
  order by o.start
  limit ${'limit'}::int
`

export const recordCounts = run('storage.record_counts', {
  ...whole,
  starts: array(int8),
  lines: array(int8),
  stdout_lines: array(int8),
  stderr_lines: array(int8),
  errors: array(int4),
})`
  update millrace.output o
  set lines        = counted.lines,
      stdout_lines = counted.stdout_lines,
      stderr_lines = counted.stderr_lines,
      error_at     = nullif(counted.error_at, -1)
  from unnest(
    ${'starts'}::bigint[], ${'lines'}::bigint[], ${'stdout_lines'}::bigint[], ${'stderr_lines'}::bigint[], ${'errors'}::int[]
  ) counted(start, lines, stdout_lines, stderr_lines, error_at)
  where o.task = ${'task'} and o.attempt = ${'attempt'} and o.start = counted.start and o.lines is null
`
