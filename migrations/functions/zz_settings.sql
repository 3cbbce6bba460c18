-- Plans must not depend on the statistics of tables that fill and empty within seconds: nested loops over indexes and
-- one generic plan, whatever the planner believes. Set on the entry points; what they call inherits it.
do $$
declare
  v_function regprocedure;
  v_setting  text;
begin
  for v_function in
    select p.oid::regprocedure
    from pg_proc p
    where p.pronamespace = 'millrace'::regnamespace
      and p.proname in (
        'add', 'step', 'rehearse', 'lease_facts', 'resume', 'finish_leased', 'fail', 'requeue', 'expire', 'cancel', 'skip', 'hold', 'release', 'retry', 'succeed', 'require', 'rewire',
        'sequence_outbox', 'read_outbox', 'prune_outbox', 'list_tasks', 'publish_index', 'differs_from_index', 'order_run'
      )
  loop
    foreach v_setting in array array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan', 'enable_material', 'jit'] loop
      execute format('alter function %s set %I = off', v_function, v_setting);
    end loop;
    execute format('alter function %s set max_parallel_workers_per_gather = 0', v_function);
    execute format('alter function %s set plan_cache_mode = force_generic_plan', v_function);
  end loop;
end $$;
