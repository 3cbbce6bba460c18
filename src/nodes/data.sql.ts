// Statements of the data of nodes.
import { array, bool, bytea, int4, int8, jsonb, many, maybe, nullable, one, run, text } from '../db/index.ts'

/** Values that are larger than `most` bytes are left out. */
export const readData = many(
  'nodes.read_data',
  { node: int8, most: int4 },
  { key: text, is_large: bool, value: nullable(jsonb) },
)`
  select key, is_large, case when not is_large then value end as value
  from (
    select key, value,
      -- The size as it is stored spares unpacking what is large in any case.
      pg_column_size(value) > ${'most'}::int or octet_length(value::text) > ${'most'}::int as is_large
    from millrace.node_data
    where node = ${'node'}
  ) measured
  order by key collate "C"
`

export const readKeys = many('nodes.read_keys', { node: int8, after: text, limit: int4 }, { key: text })`
  select key
  from millrace.node_data
  where node = ${'node'} and key collate "C" > ${'after'}
  order by key collate "C"
  limit ${'limit'}::int
`

/** What the data says of the node's work. */
export const readMeant = one('nodes.read_meant', { node: int8, keys: array(text) }, { data: nullable(jsonb) })`
  select jsonb_object_agg(key, value) as data from millrace.node_data where node = ${'node'} and key = any(${'keys'})
`

/** A text in bytes from `start` on, which may lie anywhere behind its end; anything else as a whole. */
export const readValue = maybe(
  'nodes.read_value',
  { node: int8, key: text, start: int8, limit: int4 },
  { version: int8, is_text: bool, size: nullable(int4), piece: nullable(bytea), value: nullable(jsonb) },
)`
  select version, bytes is not null as is_text, octet_length(bytes) as size,
    substring(bytes from least(${'start'}::bigint, 1073741824)::int + 1 for ${'limit'}::int) as piece,
    case when bytes is null then value end as value
  from (
    select version, value,
      case when jsonb_typeof(value) = 'string' then convert_to(value #>> '{}', 'UTF8') end as bytes
    from millrace.node_data
    where node = ${'node'} and key = ${'key'}
  ) found
`

export const setValue = one('nodes.set_value', { node: int8, key: text, value: jsonb }, { version: int8 })`
  insert into millrace.node_data (node, key, value)
  values (${'node'}, ${'key'}, ${'value'})
  on conflict (node, key) do update set value = excluded.value, version = nextval('millrace.node_value')
  returning version
`

/** What stood from byte `start` on is replaced by the text. */
export const spliceText = one('nodes.splice_text', { node: int8, key: text, start: int4, text }, { version: int8 })`
  update millrace.node_data
  set value   = to_jsonb(convert_from(
        substring(convert_to(value #>> '{}', 'UTF8') from 1 for ${'start'}::int) || convert_to(${'text'}, 'UTF8'), 'UTF8'
      )),
      version = nextval('millrace.node_value')
  where node = ${'node'} and key = ${'key'}
  returning version
`

export const setValues = run('nodes.set_values', { node: int8, keys: array(text), values: array(jsonb) })`
  insert into millrace.node_data (node, key, value)
  select ${'node'}, item.key, item.value from unnest(${'keys'}::text[], ${'values'}::jsonb[]) item(key, value)
  on conflict (node, key) do update set value = excluded.value, version = nextval('millrace.node_value')
`

export const removeValues = run('nodes.remove_values', { node: int8, keys: array(text) })`
  delete from millrace.node_data where node = ${'node'} and key = any(${'keys'})
`

export const raiseVersion = run('nodes.raise_version', { node: int8 })`
  update millrace.node set version = version + 1 where id = ${'node'}
`
