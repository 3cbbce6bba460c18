// Statements of the outbox: what subscribers are told.
import { array, float8, int4, int8, jsonb, named, nullable, one, run, text } from '../db/index.ts'

/** Gives numbers to what was committed since; answers the newest. In a transaction of its own. */
export const sequenceOutbox = one('engine.sequence_outbox', {}, { newest: int8 })`
  select millrace.sequence_outbox() as newest
`

/** The answer is one JSON value: it is parsed far faster than rows are. */
export const readOutbox = one(
  'engine.read_outbox',
  {
    after: nullable(int8),
    scan: int4,
    limit: int4,
    tasks: nullable(array(int8)),
    scopes: nullable(array(text)),
    prefixes: nullable(array(text)),
    names: nullable(array(text)),
  },
  { answer: named<unknown>('json') },
)`
  select millrace.read_outbox(
    ${'after'}, ${'scan'}, ${'limit'}, ${'tasks'}, ${'scopes'}, ${'prefixes'}, ${'names'}
  ) as answer
`

export const pruneOutbox = one('engine.prune_outbox', { seconds: float8, rows: int8, limit: int4 }, { count: int4 })`
  select millrace.prune_outbox(${'seconds'}, ${'rows'}, ${'limit'}) as count
`

export const tellOutbox = run('engine.tell_outbox', {
  name: text,
  scope: text,
  task: nullable(int8),
  cause: nullable(text),
  actor: nullable(text),
  detail: nullable(jsonb),
})`
  insert into millrace.outbox (name, scope, tasks, cause, actor, details)
  values (
    ${'name'}, ${'scope'}, array[${'task'}::bigint], ${'cause'}, ${'actor'}, array[${'detail'}::jsonb]
  )
`
