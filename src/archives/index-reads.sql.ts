// Statements that read the index. A list begins at `start` and ends before `end`, by the bytes of paths.
import { bytea, int4, int8, jsonb, many, maybe, nullable, one, text } from '../db/index.ts'

export const findIndexed = maybe(
  'archives.find_indexed',
  { archive: int8, number: nullable(int8), id: nullable(text) },
  { number: int8, id: text, file_count: int8 },
)`
  select number, id, file_count
  from millrace.indexed_revision
  where archive = ${'archive'}
    and (${'number'}::int8 is null or number = ${'number'})
    and (${'id'}::text is null or id = ${'id'})
  order by number desc
  limit 1
`

export const findNearest = one(
  'archives.find_nearest_indexed',
  { archive: int8, number: nullable(int8) },
  { before: nullable(int8), after: nullable(int8) },
)`
  select
    (
      select max(number)
      from millrace.indexed_revision
      where archive = ${'archive'} and (number < ${'number'} or ${'number'}::int8 is null)
    ) as before,
    (
      select min(number)
      from millrace.indexed_revision
      where archive = ${'archive'} and number > ${'number'}
    ) as after
`

const file = {
  path: text,
  kind: text,
  size: nullable(int8),
  digest: nullable(bytea),
  changed_number: nullable(int8),
  properties: nullable(jsonb),
}

export const readFile = maybe('archives.read_indexed', { archive: int8, number: int8, path: text }, file)`
  select path, kind, size, digest, changed_number, properties
  from millrace.indexed_file
  where archive = ${'archive'}
    and path = ${'path'}
    and from_number <= ${'number'}
    and (until_number > ${'number'} or until_number is null)
`

const range = { archive: int8, number: int8, start: text, end: text, limit: int4 }

export const listFiles = many('archives.list_indexed', range, file)`
  select path, kind, size, digest, changed_number, properties
  from millrace.indexed_file
  where archive = ${'archive'}
    and path >= ${'start'}
    and path < ${'end'}
    and from_number <= ${'number'}
    and (until_number > ${'number'} or until_number is null)
  order by path
  limit ${'limit'}::int
`

/**
 * What lies directly in a folder. Folders have no rows: one is met as the first file below it, and the next step begins
 * behind the last that could be (`0` follows `/`), so that its files are not read. The least that is larger than a path
 * is the path with U+0001 behind it.
 */
export const listChildren = many('archives.list_indexed_children', { ...range, prefix: text }, file)`
  with recursive child (path, from_number, folder) as (
    (
      select f.path, f.from_number,
        substring(f.path from 1 + length(${'prefix'}::text) for nullif(position('/' in substr(f.path, 1 + length(${'prefix'}))), 0) - 1)
      from millrace.indexed_file f
      where f.archive = ${'archive'}
        and f.path >= ${'start'}
        and f.path < ${'end'}
        and f.from_number <= ${'number'}
        and (f.until_number > ${'number'} or f.until_number is null)
      order by f.path
      limit 1
    )
    union all
    select following.path, following.from_number,
      substring(
        following.path from 1 + length(${'prefix'})
        for nullif(position('/' in substr(following.path, 1 + length(${'prefix'}))), 0) - 1
      )
    from child
      cross join lateral (
        select f.path, f.from_number
        from millrace.indexed_file f
        where f.archive = ${'archive'}
          and f.path >= coalesce(${'prefix'} || child.folder || '0', child.path || chr(1))
          and f.path < ${'end'}
          and f.from_number <= ${'number'}
          and (f.until_number > ${'number'} or f.until_number is null)
        order by f.path
        limit 1
      ) following
  ), shown as (
    select path, from_number, folder
    from child
    limit ${'limit'}::int
  )
  select ${'prefix'} || s.folder as path, 'folder' as kind, null::int8 as size, null::bytea as digest,
    null::int8 as changed_number, null::jsonb as properties
  from shown s
  where s.folder is not null
  union all
  select f.path, f.kind, f.size, f.digest, f.changed_number, f.properties
  from shown s
    join millrace.indexed_file f on f.archive = ${'archive'} and f.path = s.path and f.from_number = s.from_number
  where s.folder is null
`

/**
 * Files with all the words in their path, or all of them in their text. The words are looked up alone first, and then
 * the files by their digests alone: the planner cannot know how many have them, and would rather walk through all paths
 * in order, for each of them again.
 */
export const searchFiles = many('archives.search_indexed', { ...range, words: text }, file)`
  with named as materialized (
    select archive, path, from_number, until_number
    from millrace.indexed_file
    where words @@ ${'words'}::text::tsquery
  ), written as materialized (
    select digest
    from millrace.indexed_text
    where words @@ ${'words'}::text::tsquery
  ), found as materialized (
    select path, from_number
    from named
    where archive = ${'archive'}
      and path >= ${'start'}
      and path < ${'end'}
      and from_number <= ${'number'}
      and (until_number > ${'number'} or until_number is null)
    union
    select f.path, f.from_number
    from written w
      cross join lateral (
        select i.path, i.from_number, i.until_number
        from millrace.indexed_file i
        where i.archive = ${'archive'} and i.digest = w.digest
        offset 0
      ) f
    where f.path >= ${'start'}
      and f.path < ${'end'}
      and f.from_number <= ${'number'}
      and (f.until_number > ${'number'} or f.until_number is null)
  ), shown as materialized (
    select path, from_number
    from found
    order by path
    limit ${'limit'}::int
  )
  select f.path, f.kind, f.size, f.digest, f.changed_number, f.properties
  from shown s
    cross join lateral (
      select i.path, i.kind, i.size, i.digest, i.changed_number, i.properties
      from millrace.indexed_file i
      where i.archive = ${'archive'} and i.path = s.path and i.from_number = s.from_number
      offset 0
    ) f
  order by f.path
`

export const readText = maybe('archives.read_indexed_text', { digest: bytea }, { text: text })`
  select text
  from millrace.indexed_text
  where digest = ${'digest'}
`
