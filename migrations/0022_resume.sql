-- A dispatcher that lost its lease while its tasks went on may have them back, while no other attempt has begun.
alter table millrace.live add lost_by int;                  -- the dispatcher whose lease ran out; valid until the next claim raises the epoch
