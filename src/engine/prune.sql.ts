import { array, float8, int4, int8, nullable, one, text } from '../db/index.ts'

/** Deletes up to `limit` finished tasks with ids above `after`; answers the last id looked at, null when none is left. */
export const pruneTasks = one(
  'engine.prune',
  { seconds: float8, scope: nullable(text), kind: nullable(text), states: array(text), limit: int4, after: int8 },
  { count: int4, last: nullable(int8) },
)`
  select count, last
  from millrace.prune(${'seconds'}, ${'scope'}, ${'kind'}, ${'states'}, ${'limit'}, ${'after'})
`
