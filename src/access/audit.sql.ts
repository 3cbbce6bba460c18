import { array, int2, int4, int8, jsonb, many, nullable, run, text, timestamptz } from '../db/index.ts'

/** Answers the ids in the order of what was given. */
export const insertAudit = many(
  'access.insert_audit',
  {
    actors: array(text),
    vias: array(text),
    actions: array(text),
    subjects: array(text),
    requests: array(text),
    statuses: array(int2),
  },
  { id: int8 },
)`
  insert into millrace.audit (actor, via, action, subject, request_id, status)
  select actor, via, action, subject::jsonb, request, status
  from unnest(
    ${'actors'}::text[], ${'vias'}::text[], ${'actions'}::text[], ${'subjects'}::text[], ${'requests'}::text[],
    ${'statuses'}::int2[]
  ) with ordinality as given (actor, via, action, subject, request, status, place)
  order by place
  returning id
`

export const completeAudit = run('access.complete_audit', { ids: array(int8), statuses: array(int2) })`
  update millrace.audit
  set status = given.status
  from unnest(${'ids'}::int8[], ${'statuses'}::int2[]) as given (id, status)
  where audit.id = given.id
`

export const selectAudit = many(
  'access.list_audit',
  {
    actor: nullable(text),
    action: nullable(text),
    since: nullable(timestamptz),
    before: nullable(int8),
    limit: int4,
  },
  {
    id: int8,
    at: timestamptz,
    actor: text,
    via: text,
    action: text,
    subject: jsonb,
    request_id: text,
    status: nullable(int2),
  },
)`
  select id, at, actor, via, action, subject, request_id, status
  from millrace.audit
  where (${'actor'}::text is null or actor = ${'actor'})
    and (${'action'}::text is null or action = ${'action'})
    and (${'since'}::timestamptz is null or at >= ${'since'})
    and (${'before'}::int8 is null or id < ${'before'})
  order by id desc
  limit ${'limit'}::int
`
