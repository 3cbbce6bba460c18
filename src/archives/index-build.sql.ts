// Statements of the task that keeps the index.
import { array, bool, bytea, int8, jsonb, many, maybe, nullable, one, run, text } from '../db/index.ts'

export const findArchive = maybe('archives.find_to_index', { name: text }, { id: int8 })`
  select id
  from millrace.archive
  where name = ${'name'} and state <> 'removed'
`

/** What tasks of the archive left that have ended without an index. */
export const discardBuilds = run('archives.discard_index_builds', { archive: int8 })`
  delete from millrace.index_build b
  where b.archive = ${'archive'}
    and not exists (
      select 1
      from millrace.live l
      where l.id = b.task
    )
`

/** The build of a task: a new one, or what an attempt before began. */
export const openBuild = one(
  'archives.open_index_build',
  { archive: int8, task: int8, number: int8, revision: text },
  { id: int8 },
)`
  insert into millrace.index_build (archive, task, number, revision)
  values (${'archive'}, ${'task'}, ${'number'}, ${'revision'})
  on conflict (task) do update
  set revision = excluded.revision
  returning id
`

/** The nearest indexed revision up to this one. */
export const findBase = maybe('archives.find_index_base', { archive: int8, number: int8 }, { number: int8, id: text })`
  select number, id
  from millrace.indexed_revision
  where archive = ${'archive'} and number <= ${'number'}
  order by number desc
  limit 1
`

export const findStaged = many('archives.find_staged', { build: int8, paths: array(text) }, { path: text })`
  select path
  from millrace.index_staged
  where build = ${'build'} and path = any(${'paths'}) and kind is not null
`

/** Paths at which there is no file: of a tree, nothing below either but what is staged. */
export const stageGone = run('archives.stage_gone', { build: int8, paths: array(text), trees: array(bool) })`
  insert into millrace.index_staged (build, path, is_tree)
  select ${'build'}, path, is_tree
  from unnest(${'paths'}::text[], ${'trees'}::bool[]) as gone (path, is_tree)
  on conflict (build, path) do nothing
`

/** Files as they are at the revision, which does not change: whoever stages one again stages the same. */
export const stageFiles = run('archives.stage_files', {
  build: int8,
  paths: array(text),
  kinds: array(text),
  trees: array(bool),
  sizes: array(nullable(int8)),
  digests: array(nullable(bytea)),
  changed: array(nullable(int8)),
  properties: array(jsonb),
  words: array(text),
})`
  insert into millrace.index_staged (build, path, kind, is_tree, size, digest, changed_number, properties, words)
  select ${'build'}, path, kind, is_tree, size, digest, changed, properties, array_to_tsvector(string_to_array(words, ' '))
  from unnest(
    ${'paths'}::text[], ${'kinds'}::text[], ${'trees'}::bool[], ${'sizes'}::int8[], ${'digests'}::bytea[],
    ${'changed'}::int8[], ${'properties'}::jsonb[], ${'words'}::text[]
  ) as file (path, kind, is_tree, size, digest, changed, properties, words)
  on conflict (build, path) do nothing
`

export const findTexts = many('archives.find_texts', { digests: array(bytea) }, { digest: bytea })`
  select digest
  from millrace.indexed_text
  where digest = any(${'digests'})
`

export const addTexts = run('archives.add_texts', {
  digests: array(bytea),
  cuts: array(bool),
  texts: array(text),
  words: array(text),
})`
  insert into millrace.indexed_text (digest, is_cut, text, words)
  select digest, is_cut, text, array_to_tsvector(string_to_array(words, ' '))
  from unnest(${'digests'}::bytea[], ${'cuts'}::bool[], ${'texts'}::text[], ${'words'}::text[])
    as written (digest, is_cut, text, words)
  order by digest
  on conflict (digest) do nothing
`

/** Whether the index of that revision is not what was staged. */
export const isDifferent = one(
  'archives.is_index_different',
  { build: int8, archive: int8, number: int8 },
  { is_different: bool },
)`
  select exists (
    select 1
    from millrace.differs_from_index(${'build'}, ${'archive'}, ${'number'})
  ) as is_different
`

export const publishIndex = one(
  'archives.publish_index',
  { task: int8, left_out: int8 },
  { files: int8, began: int8, ended: int8 },
)`
  select files, began, ended
  from millrace.publish_index(${'task'}, ${'left_out'})
`
