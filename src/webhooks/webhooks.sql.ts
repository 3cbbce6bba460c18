// Statements on webhooks themselves; those on deliveries are in deliveries.sql.ts.
import { array, bool, int4, int8, many, maybe, nullable, one, run, text, timestamptz } from '../db/index.ts'

const webhookColumns = {
  id: int8,
  created_at: timestamptz,
  created_by: text,
  version: int4,
  url: text,
  description: text,
  scopes: array(text),
  names: array(text),
  is_enabled: bool,
  disabled_at: nullable(timestamptz),
  disabled_because: nullable(text),
  failing_since: nullable(timestamptz),
  old_secret_until: nullable(timestamptz),
}

export const insertWebhook = one(
  'webhooks.insert',
  {
    url: text,
    description: text,
    scopes: array(text),
    names: array(text),
    secret: text,
    created_by: text,
    position: int8,
  },
  webhookColumns,
)`
  insert into millrace.webhook (url, description, scopes, names, secret, created_by, position)
  values (${'url'}, ${'description'}, ${'scopes'}, ${'names'}, ${'secret'}, ${'created_by'}, ${'position'})
  returning id, created_at, created_by, version, url, description, scopes, names, is_enabled, disabled_at,
    disabled_because, failing_since, old_secret_until
`

export const readWebhook = maybe('webhooks.read', { id: int8 }, webhookColumns)`
  select id, created_at, created_by, version, url, description, scopes, names, is_enabled, disabled_at,
    disabled_because, failing_since, old_secret_until
  from millrace.webhook
  where id = ${'id'}
`

export const listWebhooks = many('webhooks.list', { after: int8, limit: int4 }, webhookColumns)`
  select id, created_at, created_by, version, url, description, scopes, names, is_enabled, disabled_at,
    disabled_because, failing_since, old_secret_until
  from millrace.webhook
  where id > ${'after'}
  order by id
  limit ${'limit'}::int
`

/**
 * What is null stays as it is. A webhook that is enabled again goes on from `position`. One that a person enables or
 * disables has its failures forgotten.
 */
export const updateWebhook = maybe(
  'webhooks.update',
  {
    id: int8,
    url: nullable(text),
    description: nullable(text),
    scopes: nullable(array(text)),
    names: nullable(array(text)),
    is_enabled: nullable(bool),
    because: text,
    position: int8,
  },
  webhookColumns,
)`
  update millrace.webhook as w
  set version          = w.version + 1,
      url              = coalesce(${'url'}::text, w.url),
      description      = coalesce(${'description'}::text, w.description),
      scopes           = coalesce(${'scopes'}::text[], w.scopes),
      names            = coalesce(${'names'}::text[], w.names),
      is_enabled       = coalesce(${'is_enabled'}::boolean, w.is_enabled),
      disabled_at      = case
                           when ${'is_enabled'}::boolean then null
                           when not ${'is_enabled'}::boolean and w.is_enabled then clock_timestamp()
                           else w.disabled_at
                         end,
      disabled_because = case
                           when ${'is_enabled'}::boolean then null
                           when not ${'is_enabled'}::boolean and w.is_enabled then ${'because'}
                           else w.disabled_because
                         end,
      failing_since    = case when ${'is_enabled'}::boolean <> w.is_enabled then null else w.failing_since end,
      position         = case when ${'is_enabled'}::boolean and not w.is_enabled then ${'position'} else w.position end
  where w.id = ${'id'}
  returning w.id, w.created_at, w.created_by, w.version, w.url, w.description, w.scopes, w.names, w.is_enabled,
    w.disabled_at, w.disabled_because, w.failing_since, w.old_secret_until
`

export const lockWebhook = maybe('webhooks.lock', { id: int8 }, { version: int4, is_enabled: bool })`
  select version, is_enabled
  from millrace.webhook
  where id = ${'id'}
  for update
`

/** The secret in force signs beside the new one for a while; one that was replaced before signs no more. */
export const rotateSecret = maybe(
  'webhooks.rotate_secret',
  { id: int8, secret: text, keep_seconds: int4 },
  { old_secret_until: nullable(timestamptz) },
)`
  update millrace.webhook
  set version          = version + 1,
      secret           = ${'secret'},
      old_secret       = case when ${'keep_seconds'}::int > 0 then secret end,
      old_secret_until = case
                           when ${'keep_seconds'}::int > 0
                             then clock_timestamp() + ${'keep_seconds'}::int * interval '1 second'
                         end
  where id = ${'id'}
  returning old_secret_until
`

export const deleteWebhook = run('webhooks.delete', { id: int8 })`
  delete from millrace.webhook
  where id = ${'id'}
`

/** Answers no row when it is disabled already, or gone. */
export const disableWebhook = maybe('webhooks.disable', { id: int8, because: text }, { id: int8 })`
  update millrace.webhook
  set is_enabled       = false,
      disabled_at      = clock_timestamp(),
      disabled_because = ${'because'}
  where id = ${'id'} and is_enabled
  returning id
`

export const noteSuccess = run('webhooks.note_success', { id: int8 })`
  update millrace.webhook
  set failing_since = null
  where id = ${'id'} and failing_since is not null and is_enabled
`

/** For how long every attempt has failed. */
export const noteFailure = maybe('webhooks.note_failure', { id: int8 }, { seconds: int8 })`
  with noted as (
    update millrace.webhook
    set failing_since = clock_timestamp()
    where id = ${'id'} and failing_since is null and is_enabled
  )
  select floor(extract(epoch from clock_timestamp() - coalesce(failing_since, clock_timestamp())))::bigint as seconds
  from millrace.webhook
  where id = ${'id'}
`

/** Those whose position may be moved. Another server that plans just now has the others, and this one leaves them to it. */
export const lockEnabled = many(
  'webhooks.lock_enabled',
  {},
  { id: int8, scopes: array(text), names: array(text), position: int8 },
)`
  select id, scopes, names, position
  from millrace.webhook
  where is_enabled
  order by id
  for update skip locked
`

export const isAnyEnabled = one('webhooks.is_any_enabled', {}, { is_any: bool })`
  select exists (select 1 from millrace.webhook where is_enabled) as is_any
`

export const moveWebhooks = run('webhooks.move', { ids: array(int8), position: int8 })`
  update millrace.webhook
  set position = ${'position'}
  where id = any(${'ids'})
`

/** Those whose last deliveries failed, also when they were disabled for it. What a person disabled is as it should be. */
export const failingWebhooks = many(
  'webhooks.failing',
  { limit: int4 },
  {
    id: int8,
    url: text,
    disabled_at: nullable(timestamptz),
    disabled_because: nullable(text),
    failing_since: nullable(timestamptz),
  },
)`
  select id, url, disabled_at, disabled_because, failing_since
  from millrace.webhook
  where failing_since is not null
  order by id
  limit ${'limit'}::int
`
