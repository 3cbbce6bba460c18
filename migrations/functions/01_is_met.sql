-- The one predicate of readiness: whether a prerequisite in `p_state` (null while it is unfinished) meets the condition.
-- Counting, releasing, skipping and `why` all ask here.
create function millrace.is_met(p_condition millrace.condition, p_state millrace.state) returns boolean
language sql immutable parallel safe as $$
  select p_state is not null and case p_condition
    when 'succeeded' then p_state = 'succeeded'
    when 'failed' then p_state = 'failed'
    else true
  end
$$;

-- The protocols here take a lock and read in the next statement what became true while they waited for it. Under a
-- stricter isolation that statement would see the past.
create function millrace.insist_read_committed() returns void
language plpgsql as $$
begin
  -- READ UNCOMMITTED is the same to PostgreSQL.
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the engine works in READ COMMITTED transactions, and this one is %', upper(current_setting('transaction_isolation'))
      using errcode = 'MR005', hint = 'begin the transaction with `isolation level read committed`';
  end if;
end $$;
