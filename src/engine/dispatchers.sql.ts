// Statements of the dispatcher: lease, claim, heartbeat.
import { array, bool, float8, int4, int8, jsonb, many, named, nullable, one, run, text } from '../db/index.ts'

export const register = one(
  'engine.register',
  { name: text, lease_seconds: float8, lanes: array(int4), host: text, facts: jsonb, before: nullable(int4) },
  { id: int4 },
)`
  select millrace.register(
    ${'name'}, ${'lease_seconds'}, ${'lanes'}, ${'host'}, ${'facts'}, ${'before'}
  ) as id
`

/** `reached`: how far it has claimed, for those that come after. */
export const unregister = run('engine.unregister', { holder: int4, reached: nullable(jsonb) })`
  select millrace.unregister(${'holder'}, ${'reached'})
`

/** Where to begin to look; without marks, from the start. `gone`: tasks that are not vacuumed. */
export const beginBehind = one(
  'engine.begin_behind',
  { lanes: array(int4), few: int8 },
  { gone: int8, marks: nullable(named<[lane: number, priority: number, order: string][]>('json')) },
)`
  select gone, marks from millrace.begin_behind(${'lanes'}, ${'few'})
`

export const heartbeat = one(
  'engine.heartbeat',
  { holder: int4, reached: nullable(jsonb) },
  { is_alive: bool, canceling: array(int8), wanted: nullable(text) },
)`
  select is_alive, canceling, wanted from millrace.heartbeat(${'holder'}, ${'reached'})
`

/** What was asked of a dispatcher: tasks to be stopped, and whether it is to run. */
export const canceling = one('engine.canceling', { holder: int4 }, { ids: array(int8), wanted: nullable(text) })`
  select millrace.canceling(${'holder'}) as ids,
    (select wanted from millrace.dispatcher where id = ${'holder'}) as wanted
`

export const wantWorker = one('engine.want_worker', { id: int4, wanted: text, actor: nullable(text) }, { is_so: bool })`
  select millrace.want_worker(${'id'}, ${'wanted'}, ${'actor'}) as is_so
`

export const expire = one(
  'engine.expire',
  { max_deaths: int4, since: nullable(text), last: nullable(text), gap_seconds: float8 },
  { count: int4, since: text, last: text },
)`
  select count, since::text, last::text
  from millrace.expire(${'max_deaths'}, ${'since'}::text::timestamptz, ${'last'}::text::timestamptz, ${'gap_seconds'})
`

/** Takes tasks back whose lease was lost. `fate` is resumed, open or gone. */
export const resumeTasks = many(
  'engine.resume',
  { holder: int4, ids: array(int8), epochs: array(int4) },
  { id: int8, fate: named<'resumed' | 'open' | 'gone'>('text') },
)`
  select id, fate from millrace.resume(${'holder'}, ${'ids'}, ${'epochs'})
`

export const beginSuspect = one('engine.begin_suspect', { holder: int4, id: int8, epoch: int4 }, { is_mine: bool })`
  select millrace.begin_suspect(${'holder'}, ${'id'}, ${'epoch'}) as is_mine
`

/** Records successes and claims again. The answer is one JSON value: it is parsed far faster than rows are. */
export const stepTasks = one(
  'engine.step',
  {
    holder: int4,
    ids: array(int8),
    epochs: array(int4),
    outputs: nullable(array(nullable(jsonb))),
    unchanged: array(int8),
    lanes: array(int4),
    from_priority: array(int4),
    from_order: array(int8),
    limit: int4,
    idle: nullable(bool),
    to_priority: nullable(array(int4)),
    slice_lanes: nullable(array(int4)),
    slice_priority: nullable(array(int4)),
    slice_from: nullable(int8),
    slice_to: nullable(array(int8)),
    is_fair: bool,
  },
  { answer: named<unknown>('json') },
)`
  select millrace.step(
    ${'holder'}, ${'ids'}, ${'epochs'}, ${'outputs'}, ${'unchanged'}, ${'lanes'}, ${'from_priority'}, ${'from_order'},
    ${'limit'}, ${'idle'}, ${'to_priority'}, ${'slice_lanes'}, ${'slice_priority'}, ${'slice_from'}, ${'slice_to'},
    ${'is_fair'}
  ) as answer
`

/** Plans all that steps do on the connection that it is asked on. */
export const rehearse = one(
  'engine.rehearse',
  { holder: int4, lanes: int4 },
  { answer: nullable(named<null>('json')) },
)`
  select millrace.rehearse(${'holder'}, ${'lanes'}) as answer
`

export const notify = run('engine.notify', { channel: text })`
  select pg_notify(${'channel'}, '')
`
