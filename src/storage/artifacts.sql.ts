import { array, bool, bytea, int4, int8, many, maybe, run, text, timestamptz } from '../db/index.ts'

/** May be sent again when its answer was lost. */
export const insertPiece = run('storage.insert_piece', {
  task: int8,
  attempt: int4,
  number: int4,
  start: int8,
  bytes: bytea,
})`
  insert into millrace.artifact_piece (task, attempt, number, start, bytes)
  values (${'task'}, ${'attempt'}, ${'number'}, ${'start'}, ${'bytes'})
  on conflict (task, attempt, number, start) do nothing
`

export const insertUpload = run('storage.insert_upload', { task: int8, attempt: int4 })`
  insert into millrace.artifact_upload (task, attempt)
  values (${'task'}, ${'attempt'})
  on conflict (task, attempt) do nothing
`

export const deleteUploads = run('storage.delete_uploads', { task: int8 })`
  delete from millrace.artifact_upload
  where task = ${'task'}
`

export const deleteUpload = run('storage.delete_upload', { task: int8, attempt: int4 })`
  delete from millrace.artifact_upload
  where task = ${'task'} and attempt = ${'attempt'}
`

/** Uploads of attempts that are over: a task that is not live has ended, and a later attempt has another epoch. */
export const listStaleUploads = many('storage.list_stale_uploads', { limit: int4 }, { task: int8, attempt: int4 })`
  select upload.task, upload.attempt
  from millrace.artifact_upload as upload
  left join millrace.live on live.id = upload.task
  where live.id is null or live.epoch > upload.attempt
  order by upload.task, upload.attempt
  limit ${'limit'}::int
`

export const deleteArtifacts = run('storage.delete_artifacts', { task: int8 })`
  delete from millrace.artifact
  where task = ${'task'}
`

export const insertArtifacts = run('storage.insert_artifacts', {
  task: int8,
  attempt: int4,
  paths: array(text),
  sizes: array(int8),
  digests: array(bytea),
  executables: array(bool),
})`
  insert into millrace.artifact (task, attempt, number, path, size, digest, is_executable)
  select ${'task'}, ${'attempt'}, file.number - 1, file.path, file.size, file.digest, file.is_executable
  from unnest(${'paths'}::text[], ${'sizes'}::bigint[], ${'digests'}::bytea[], ${'executables'}::boolean[])
    with ordinality as file (path, size, digest, is_executable, number)
`

/** Pieces of attempts that came to nothing, or whose files were replaced. */
export const deleteLoosePieces = run('storage.delete_loose_pieces', { task: int8 })`
  delete from millrace.artifact_piece as piece
  where piece.task = ${'task'}
    and not exists (
      select 1
      from millrace.artifact
      where artifact.task = piece.task and artifact.attempt = piece.attempt
    )
`

/** Never those of an attempt that was kept. */
export const deletePieces = run('storage.delete_pieces', { task: int8, attempt: int4 })`
  delete from millrace.artifact_piece
  where task = ${'task'} and attempt = ${'attempt'}
    and not exists (
      select 1
      from millrace.artifact
      where artifact.task = ${'task'} and artifact.attempt = ${'attempt'}
    )
`

const artifact = {
  task: int8,
  attempt: int4,
  number: int4,
  path: text,
  size: int8,
  digest: bytea,
  is_executable: bool,
  created_at: timestamptz,
}

export const listArtifacts = many('storage.list_artifacts', { tasks: array(int8), after: int4, limit: int4 }, artifact)`
  select task, attempt, number, path, size, digest, is_executable, created_at
  from millrace.artifact
  where task = any(${'tasks'}::bigint[])
    and number > ${'after'}
  order by task, number
  limit ${'limit'}::int
`

export const readArtifact = maybe('storage.read_artifact', { task: int8, path: text }, artifact)`
  select task, attempt, number, path, size, digest, is_executable, created_at
  from millrace.artifact
  where task = ${'task'} and path = ${'path'}
`

/** The piece that holds the byte. */
export const readPiece = maybe(
  'storage.read_piece',
  { task: int8, attempt: int4, number: int4, at: int8 },
  { start: int8, bytes: bytea },
)`
  select start, bytes
  from millrace.artifact_piece
  where task = ${'task'} and attempt = ${'attempt'} and number = ${'number'} and start <= ${'at'}
  order by start desc
  limit 1
`
