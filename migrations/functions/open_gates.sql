-- Takes p_freed[i] places of gate p_gates[i] back and lets waiting tasks in while there is room, the most urgent first.
-- A task passes its gates one by one, holding those behind it, in an order that is the same for all (locks, then
-- limits, each by number): no two tasks can wait for each other. Never waits for a lock. Answers how many tasks can be claimed.
create function millrace.open_gates(p_gates int[], p_freed int[]) returns int
language plpgsql as $$
declare
  v_locked    int[];
  v_gate      int;
  v_room      int;
  v_freed     int;
  v_entering  bigint[];
  v_waiting   int;
  v_claimable int := 0;
  v_count     int;
begin
  v_locked := array(select g.id from millrace.gate g where g.id = any(p_gates) order by g.id for update skip locked);
  insert into millrace.effect (kind, ref, n, stalled)
  select 'gate', x.gate, x.n, pg_current_xact_id()
  from unnest(p_gates, p_freed) x(gate, n)
  where not (x.gate = any(v_locked));

  foreach v_gate in array v_locked loop
    v_freed := p_freed[array_position(p_gates, v_gate)];
    select g.capacity - g.used + v_freed into v_room from millrace.gate g where g.id = v_gate;
    v_entering := '{}';
    if v_room > 0 then
      v_entering := array(
        select l.id
        from millrace.live l
        where l.state = 'ready' and l.gate = v_gate
        order by l.priority, l.ready_order
        limit v_room
        for update skip locked
      );
      if cardinality(v_entering) < v_room then
        -- One that waits may have been passed over because it was locked: look again later.
        select count(*) into v_waiting
        from (select 1 from millrace.live l where l.state = 'ready' and l.gate = v_gate limit v_room) s;
        if v_waiting > cardinality(v_entering) then
          insert into millrace.effect (kind, ref, stalled) values ('gate', v_gate, pg_current_xact_id());
        end if;
      end if;
    end if;
    if v_freed <> cardinality(v_entering) then
      update millrace.gate g set used = g.used - v_freed + cardinality(v_entering) where g.id = v_gate;
    end if;
    if cardinality(v_entering) > 0 then
      with moved as (
        update millrace.live l
        set gates_held  = l.gates_held + 1,
            gate        = l.gates[l.gates_held + 2],
            -- A dispatcher remembers how far it has claimed: what becomes claimable goes behind that mark.
            ready_order = nextval('millrace.ready_order')
        where l.id = any(v_entering)
        returning l.id, l.gate, l.lane
      ),
      queueing as (
        insert into millrace.effect (kind, ref) select distinct 'gate'::millrace.effect_kind, m.gate::bigint from moved m where m.gate is not null
      ),
      completing as (
        insert into millrace.effect (kind, ref) select 'complete', m.id from moved m where m.gate is null and m.lane is null
      )
      select count(*) filter (where m.gate is null and m.lane is not null) into v_count from moved m;
      v_claimable := v_claimable + v_count;
    end if;
  end loop;
  return v_claimable;
end $$;
