import { array, int4, run } from '../db/index.ts'

/** Lets delayed tasks of the lanes, and delayed milestones, be due at once. */
export const makeDue = run('engine.make_due', { lanes: array(int4) })`
  update millrace.live
  set not_before = clock_timestamp()
  where state = 'delayed' and (lane is null or lane = any(${'lanes'}))
`
