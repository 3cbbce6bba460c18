-- The functions are installed as a whole: what a release no longer has must not stay behind.
do $$
declare
  v_routine regprocedure;
begin
  for v_routine in
    select p.oid::regprocedure from pg_proc p where p.pronamespace = 'millrace'::regnamespace
  loop
    execute format('drop function %s cascade', v_routine);
  end loop;
end $$;
