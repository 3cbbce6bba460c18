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
