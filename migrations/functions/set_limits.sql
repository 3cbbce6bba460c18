-- Changes how many tasks the limits whose groups are like p_pattern let in at once. Returns whether anything changes.
create function millrace.set_limits(p_pattern text, p_capacity int) returns boolean
language plpgsql as $$
declare
  v_gates       int[] := array(select g.id from millrace.gate g where g.name like 'limit ' || p_pattern order by g.id);
  v_has_changed boolean;
begin
  v_has_changed := millrace.set_capacities(v_gates, array_fill(p_capacity, array[cardinality(v_gates)]), true);
  if v_has_changed then perform millrace.wake(); end if;
  return v_has_changed;
end $$;
