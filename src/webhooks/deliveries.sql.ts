import { array, bool, int4, int8, jsonb, many, maybe, nullable, one, run, text, timestamptz } from '../db/index.ts'

export const drawDeliveryIds = many('webhooks.draw_delivery_ids', { count: int4 }, { id: int8 })`
  select nextval(pg_get_serial_sequence('millrace.webhook_delivery', 'id')) as id
  from generate_series(1, ${'count'}::int)
`

export const insertDeliveries = run('webhooks.insert_deliveries', {
  ids: array(int8),
  webhooks: array(int8),
  message_ids: array(text),
  events: array(nullable(int8)),
  names: array(text),
  bodies: array(text),
  tasks: array(nullable(int8)),
})`
  insert into millrace.webhook_delivery (id, webhook, message_id, event, name, body, task)
  select id, webhook, message_id, event, name, body, task
  from unnest(
    ${'ids'}::bigint[], ${'webhooks'}::bigint[], ${'message_ids'}::text[], ${'events'}::bigint[], ${'names'}::text[],
    ${'bodies'}::text[], ${'tasks'}::bigint[]
  ) as given (id, webhook, message_id, event, name, body, task)
`

/** All that sending needs. The old secret is left out once its time is over. */
export const readToSend = maybe(
  'webhooks.read_to_send',
  { id: int8 },
  {
    webhook: int8,
    task: nullable(int8),
    message_id: text,
    body: text,
    url: text,
    is_enabled: bool,
    secret: text,
    old_secret: nullable(text),
  },
)`
  select d.webhook, d.task, d.message_id, d.body, w.url, w.is_enabled, w.secret,
    case when w.old_secret_until > clock_timestamp() then w.old_secret end as old_secret
  from millrace.webhook_delivery d
    join millrace.webhook w on w.id = d.webhook
  where d.id = ${'id'}
`

export const insertAttempt = run('webhooks.insert_attempt', {
  delivery: int8,
  at: timestamptz,
  duration_ms: int4,
  status: nullable(int4),
  error: nullable(text),
  answer: nullable(text),
})`
  with counted as (
    update millrace.webhook_delivery
    set attempts = attempts + 1
    where id = ${'delivery'}
    returning id, attempts
  )
  insert into millrace.webhook_attempt (delivery, number, at, duration_ms, status, error, answer)
  select id, attempts, ${'at'}, ${'duration_ms'}, ${'status'}, ${'error'}, ${'answer'}
  from counted
`

/** A delivery that is sent again belongs to another task, whose outcome counts. */
export const endDelivery = run('webhooks.end_delivery', { id: int8, task: nullable(int8), outcome: text })`
  update millrace.webhook_delivery
  set outcome  = ${'outcome'},
      ended_at = clock_timestamp()
  where id = ${'id'} and task is not distinct from ${'task'}
`

export const lockDelivery = maybe('webhooks.lock_delivery', { id: int8, webhook: int8 }, { task: nullable(int8) })`
  select task
  from millrace.webhook_delivery
  where id = ${'id'} and webhook = ${'webhook'}
  for update
`

export const restartDelivery = run('webhooks.restart_delivery', { id: int8, task: int8 })`
  update millrace.webhook_delivery
  set task     = ${'task'},
      outcome  = null,
      ended_at = null
  where id = ${'id'}
`

/** Newest first. The attempts are a list of JSON objects, the first one first. */
export const listDeliveries = many(
  'webhooks.list_deliveries',
  { webhook: int8, id: nullable(int8), before: nullable(int8), state: nullable(text), limit: int4 },
  {
    id: int8,
    message_id: text,
    event: nullable(int8),
    name: text,
    state: text,
    created_at: timestamptz,
    ended_at: nullable(timestamptz),
    next_at: nullable(timestamptz),
    task: nullable(int8),
    attempts: jsonb,
  },
)`
  select d.id, d.message_id, d.event, d.name, found.state, d.created_at, coalesce(d.ended_at, done.finished_at) as ended_at,
    live.not_before as next_at, d.task, tried.attempts
  from millrace.webhook_delivery d
    left join millrace.live on live.id = d.task
    left join millrace.done on done.id = d.task
    -- A task that a person canceled left no outcome here.
    cross join lateral (
      select coalesce(d.outcome, case when live.id is null then 'failed' else 'pending' end) as state
    ) found
    cross join lateral (
      select coalesce(
        jsonb_agg(
          jsonb_build_object(
            'number', a.number, 'at', a.at, 'duration_ms', a.duration_ms, 'status', a.status, 'error', a.error,
            'answer', a.answer
          )
          order by a.number
        ),
        '[]'
      ) as attempts
      from millrace.webhook_attempt a
      where a.delivery = d.id
    ) tried
  where d.webhook = ${'webhook'}
    and (${'id'}::bigint is null or d.id = ${'id'})
    and (${'before'}::bigint is null or d.id < ${'before'})
    and (${'state'}::text is null or found.state = ${'state'})
  order by d.id desc
  limit ${'limit'}::int
`

/** Tasks of deliveries that are under way. */
export const pendingTasks = many('webhooks.pending_tasks', { webhook: int8, limit: int4 }, { task: int8 })`
  select d.task
  from millrace.webhook_delivery d
    join millrace.live on live.id = d.task
  where d.webhook = ${'webhook'} and d.outcome is null and live.cancel_cause is null
  order by d.id
  limit ${'limit'}::int
`

export const pruneDeliveries = one('webhooks.prune_deliveries', { days: int4, limit: int4 }, { count: int4 })`
  with old as (
    select d.id
    from millrace.webhook_delivery d
    where d.created_at < clock_timestamp() - ${'days'}::int * interval '1 day'
      and not exists (select 1 from millrace.live where live.id = d.task)
    order by d.created_at
    limit ${'limit'}::int
  ),
  gone as (
    delete from millrace.webhook_delivery d
    using old
    where d.id = old.id
    returning d.id
  )
  select count(*)::int as count
  from gone
`
