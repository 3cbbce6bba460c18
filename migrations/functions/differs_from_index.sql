-- What is staged and not so in the index: rows valid at a revision that are different or gone, and, without a row, files
-- that are new.
create function millrace.differs_from_index(p_build bigint, p_archive bigint, p_number bigint)
returns table (path text, from_number bigint)
language sql stable as $$
  with touched as materialized (
    select f.path, f.from_number
    from millrace.index_staged s
      join millrace.indexed_file f on f.archive = p_archive and f.path = s.path
    where s.build = p_build
      and f.from_number <= p_number and (f.until_number > p_number or f.until_number is null)
    union
    select f.path, f.from_number
    from millrace.index_staged s
      join millrace.indexed_file f on f.archive = p_archive and f.path > s.path || '/' and f.path < s.path || '0'
    where s.build = p_build and s.is_tree and s.path <> ''
      and f.from_number <= p_number and (f.until_number > p_number or f.until_number is null)
    union
    select f.path, f.from_number
    from millrace.index_staged s
      join millrace.indexed_file f on f.archive = p_archive
    where s.build = p_build and s.is_tree and s.path = ''
      and f.from_number <= p_number and (f.until_number > p_number or f.until_number is null)
  )
  select f.path, f.from_number
  from touched t
    join millrace.indexed_file f on f.archive = p_archive and f.path = t.path and f.from_number = t.from_number
    left join millrace.index_staged s on s.build = p_build and s.path = f.path
  where (s.kind, s.size, s.digest, s.properties, s.changed_number)
    is distinct from (f.kind, f.size, f.digest, f.properties, f.changed_number)
  union all
  select s.path, null
  from millrace.index_staged s
  where s.build = p_build
    and s.kind is not null
    and not exists (
      select 1
      from millrace.indexed_file f
      where f.archive = p_archive and f.path = s.path
        and f.from_number <= p_number and (f.until_number > p_number or f.until_number is null)
    )
$$;
