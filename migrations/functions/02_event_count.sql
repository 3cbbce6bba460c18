-- How many events a row of the outbox tells of.
create function millrace.event_count(p_row millrace.outbox) returns bigint
language sql immutable parallel safe as $$
  select coalesce(cardinality(p_row.created), 0)::bigint + coalesce(cardinality(p_row.succeeded), 0)
    + coalesce(cardinality(p_row.readied), 0) + coalesce(cardinality(p_row.claimed), 0)
    + case when p_row.name is null then 0 else coalesce(cardinality(p_row.tasks), 1) end
$$;
