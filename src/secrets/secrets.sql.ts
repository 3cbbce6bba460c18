import { array, bool, bytea, int4, int8, many, maybe, nullable, one, run, text, timestamptz } from '../db/index.ts'

const shown = {
  id: int8,
  archive: text,
  name: text,
  version: int4,
  created_at: timestamptz,
  created_by: text,
  changed_at: timestamptz,
  changed_by: text,
}

/** Whoever sets a secret waits for the others: all must use one key. */
export const lockSecrets = run('secrets.lock', {})`
  lock table millrace.secret in share row exclusive mode
`

/** Whether some need another key. */
export const examineKeys = one('secrets.examine_keys', { key: bytea }, { is_other: bool })`
  select exists (select 1 from millrace.secret where key <> ${'key'}) as is_other
`

export const anySecret = one('secrets.any', {}, { is_any: bool })`
  select exists (select 1 from millrace.secret) as is_any
`

export const versionOf = maybe('secrets.version', { archive: text, name: text }, { version: int4 })`
  select version
  from millrace.secret
  where archive = ${'archive'} and name = ${'name'}
`

export const putSecret = one(
  'secrets.put',
  { archive: text, name: text, version: int4, by: text, key: bytea, sealed: bytea },
  shown,
)`
  insert into millrace.secret as s (archive, name, version, created_by, changed_by, key, sealed)
  values (${'archive'}, ${'name'}, ${'version'}, ${'by'}, ${'by'}, ${'key'}, ${'sealed'})
  on conflict (archive, name) do update
  set version    = excluded.version,
      changed_at = clock_timestamp(),
      changed_by = excluded.changed_by,
      key        = excluded.key,
      sealed     = excluded.sealed
  returning s.id, s.archive, s.name, s.version, s.created_at, s.created_by, s.changed_at, s.changed_by
`

/** Those of an archive and those for all, or all there are; the oldest first. */
export const listSecrets = many('secrets.list', { archive: nullable(text), after: int8, limit: int4 }, shown)`
  select id, archive, name, version, created_at, created_by, changed_at, changed_by
  from millrace.secret
  where (${'archive'}::text is null or archive in ('', ${'archive'}))
    and id > ${'after'}
  order by id
  limit ${'limit'}::int
`

/** Sealed values; an archive's own comes after the one for all. */
export const readSecrets = many(
  'secrets.read',
  { archive: text, names: array(text) },
  { archive: text, name: text, version: int4, key: bytea, sealed: bytea },
)`
  select archive, name, version, key, sealed
  from millrace.secret
  where archive in ('', ${'archive'}) and name = any(${'names'}::text[])
  order by archive
`

export const deleteSecret = maybe('secrets.delete', { archive: text, name: text }, { version: int4 })`
  delete from millrace.secret
  where archive = ${'archive'} and name = ${'name'}
  returning version
`
