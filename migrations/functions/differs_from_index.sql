-- What is staged and not so in the index: rows valid at a revision that are different or gone, and, without a row, files
-- that are new.
--
-- Each lateral subquery with `offset 0` is asked for one path: what is staged is little, what is indexed is much, and the
-- planner knows neither.
create function millrace.differs_from_index(p_build bigint, p_archive bigint, p_number bigint)
returns table (path text, from_number bigint)
language sql stable as $$
  with touched as materialized (
    select f.path, f.from_number, f.kind, f.size, f.digest, f.properties, f.changed_number
    from millrace.index_staged s
      cross join lateral (
        select i.path, i.from_number, i.kind, i.size, i.digest, i.properties, i.changed_number
        from millrace.indexed_file i
        where i.archive = p_archive and i.path = s.path
          and i.from_number <= p_number and (i.until_number > p_number or i.until_number is null)
        offset 0
      ) f
    where s.build = p_build
    union
    select f.path, f.from_number, f.kind, f.size, f.digest, f.properties, f.changed_number
    from millrace.index_staged s
      cross join lateral (
        select i.path, i.from_number, i.kind, i.size, i.digest, i.properties, i.changed_number
        from millrace.indexed_file i
        where i.archive = p_archive and i.path > s.path || '/' and i.path < s.path || '0'
          and i.from_number <= p_number and (i.until_number > p_number or i.until_number is null)
        offset 0
      ) f
    where s.build = p_build and s.is_tree and s.path <> ''
    union
    select f.path, f.from_number, f.kind, f.size, f.digest, f.properties, f.changed_number
    from millrace.indexed_file f
    where f.archive = p_archive
      and f.from_number <= p_number and (f.until_number > p_number or f.until_number is null)
      and (
        select s.is_tree
        from millrace.index_staged s
        where s.build = p_build and s.path = ''
      )
  )
  select t.path, t.from_number
  from touched t
    left join lateral (
      select i.kind, i.size, i.digest, i.properties, i.changed_number
      from millrace.index_staged i
      where i.build = p_build and i.path = t.path
      offset 0
    ) s on true
  where (s.kind, s.size, s.digest, s.properties, s.changed_number)
    is distinct from (t.kind, t.size, t.digest, t.properties, t.changed_number)
  union all
  select s.path, null
  from millrace.index_staged s
    left join lateral (
      select true as is_there
      from millrace.indexed_file i
      where i.archive = p_archive and i.path = s.path
        and i.from_number <= p_number and (i.until_number > p_number or i.until_number is null)
      offset 0
    ) f on true
  where s.build = p_build and s.kind is not null and f.is_there is null
$$;
