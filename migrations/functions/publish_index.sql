-- Makes what was staged for a revision part of the archive's index, in the transaction that ends its task.
--
-- Revisions are mostly indexed in their order, but need not be: the new one takes its place between the nearest indexed
-- ones before and after it. A staged path says how the file is at the new revision; every path that is different there
-- from the revision before is staged. What is staged and was the same already is left alone. A row that is different is
-- cut: it stays valid before, and again from the next indexed revision on when it was valid there.
create function millrace.publish_index(
  p_task bigint, p_left_out bigint, out files bigint, out began bigint, out ended bigint
) language plpgsql as $$
declare
  v_build    bigint;
  v_archive  bigint;
  v_number   bigint;
  v_revision text;
  v_before   bigint;
  v_after    bigint;
begin
  select id, archive, number, revision
  into strict v_build, v_archive, v_number, v_revision
  from millrace.index_build
  where task = p_task
  for update;
  -- One at a time for each archive: what lies before and after must stay until the transaction ends.
  perform pg_advisory_xact_lock(7420011, (v_archive % 2147483647)::int);

  -- One that is indexed already is compared with itself.
  select max(number) into v_before
  from millrace.indexed_revision
  where archive = v_archive and number <= v_number;
  select min(number) into v_after
  from millrace.indexed_revision
  where archive = v_archive and number > v_number;
  select file_count into files
  from millrace.indexed_revision
  where archive = v_archive and number = v_before;

  with different as materialized (
    select f.place, f.path, f.from_number, f.until_number, f.changed_number, f.size, f.kind, f.digest, f.properties, f.words
    from millrace.differs_from_index(v_build, v_archive, v_before) d
      cross join lateral (
        select i.ctid as place, i.path, i.from_number, i.until_number, i.changed_number, i.size, i.kind, i.digest,
          i.properties, i.words
        from millrace.indexed_file i
        where i.archive = v_archive and i.path = d.path and i.from_number = d.from_number
        offset 0
      ) f
  ), valid_after as (
    insert into millrace.indexed_file
      (archive, path, from_number, until_number, changed_number, size, kind, digest, properties, words)
    select v_archive, path, v_after, until_number, changed_number, size, kind, digest, properties, words
    from different
    where v_after < until_number or v_after is not null and until_number is null
  ), valid_before as (
    -- By their places, which nobody moves meanwhile: a join might walk through the whole archive.
    update millrace.indexed_file
    set until_number = v_number
    where ctid = any(array(select place from different where from_number < v_number))
  ), never_valid as (
    delete from millrace.indexed_file
    where ctid = any(array(select place from different where from_number = v_number))
  )
  select count(*) into ended
  from different;

  -- What was different is valid no more at the revision, so that all of it that is staged counts as new now.
  insert into millrace.indexed_file
    (archive, path, from_number, until_number, changed_number, size, kind, digest, properties, words)
  select v_archive, s.path, v_number, v_after, s.changed_number, s.size, s.kind, s.digest, s.properties, s.words
  from millrace.index_staged s
    left join lateral (
      select true as is_there
      from millrace.indexed_file i
      where i.archive = v_archive and i.path = s.path
        and i.from_number <= v_number and (i.until_number > v_number or i.until_number is null)
      offset 0
    ) f on true
  where s.build = v_build and s.kind is not null and f.is_there is null;
  get diagnostics began = row_count;

  files := coalesce(files, 0) - ended + began;
  insert into millrace.indexed_revision (archive, number, task, file_count, left_out, id)
  values (v_archive, v_number, p_task, files, p_left_out, v_revision)
  on conflict (archive, number) do update
  set task       = excluded.task,
      indexed_at = excluded.indexed_at,
      file_count = excluded.file_count,
      left_out   = excluded.left_out,
      id         = excluded.id;
  delete from millrace.index_build
  where id = v_build;
end
$$;
