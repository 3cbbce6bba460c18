// The engine broken on purpose, in one place at a time: the tests of test/model must notice each. A mutant that lives
// on is a hole in those tests, or code that nobody needs.
import { describe, expect, test } from 'vitest'
import { database } from '../database.ts'
import { inForm } from '../long-form.ts'
import { compare } from '../model/compare.ts'
import { interleave } from '../model/interleave.ts'

type Mutant = {
  /** What is broken. */
  readonly title: string
  readonly in: string
  readonly replace: string
  readonly by: string
}

/** The seed of the cases, and by title the number of the case that has noticed the mutant, where it takes long to find. */
const SEED = 7
const found: Readonly<Record<string, number>> = {
  'a put back task that forgets it is doomed': 811,
  'a gate that is lost when it is locked': 411,
  'asking again without locking prerequisites': 395,
  'asking again without locking dependents': 1012,
  'events in the order in which their transactions began': 120,
}

/** Noticed by one command after another. */
const steps: Mutant[] = [
  { title: 'a release that is not counted', in: 'unblock', replace: 'l.unmet - mine.n', by: 'l.unmet' },
  {
    title: 'any end counts as a failure',
    in: 'is_met',
    replace: `when 'failed' then p_state = 'failed'`,
    by: `when 'failed' then true`,
  },
  { title: 'a finish without its epoch', in: 'finish', replace: 'and r.epoch = p.epoch ', by: '' },
  { title: 'a finish of a task that was asked to stop', in: 'finish', replace: 'and r.cancel_cause is null', by: '' },
  { title: 'a hop without its epoch', in: 'hop', replace: 'and r.epoch = p_epoch ', by: '' },
  { title: 'a hop of a task that was asked to stop', in: 'hop', replace: 'and r.cancel_cause is null', by: '' },
  { title: 'a hop to a task with more requirements', in: 'hop', replace: 'and r.unmet = 1 ', by: '' },
  { title: 'a hop to a held task', in: 'hop', replace: `and r.state = 'waiting' `, by: '' },
  { title: 'a hop past the gates', in: 'hop', replace: 'and r.gates is null and', by: 'and' },
  { title: 'a hop that keeps its gates', in: 'hop', replace: 'and r.gates_held = 0 and', by: 'and' },
  { title: 'a hop past what is to be superseded', in: 'hop', replace: 'and not r.supersedes', by: '' },
  { title: 'a hop of a rerun that nobody follows', in: 'hop', replace: 'and not r.is_rerun', by: '' },
  { title: 'a hop before its time', in: 'hop', replace: 'and r.not_before is null', by: '' },
  { title: 'a hop to a task of another lane', in: 'hop', replace: 'and r.lane = any(p_lanes)', by: '' },
  { title: 'a hop whatever the condition', in: 'hop', replace: 'else -e.dependent', by: 'else e.dependent' },
  { title: 'a hop before what is ready', in: 'hop', replace: `where o.state = 'ready'`, by: 'where false' },
  {
    title: 'a hop that subscribers are not told of',
    in: 'hop',
    replace: 'v_dependents, v_dependents, p_holder',
    by: 'v_dependents, null, p_holder',
  },
  { title: 'a retry that keeps its gates', in: 'put_back', replace: 'l.gates[1 : l.gates_held]', by: 'l.gates[1 : 0]' },
  { title: 'an end that keeps its gates', in: 'conclude', replace: 'g.gates[1 : g.gates_held]', by: 'g.gates[1 : 0]' },
  {
    title: 'one too many through a gate',
    in: 'open_gates',
    replace: 'g.capacity - g.used + v_freed',
    by: 'g.capacity - g.used + v_freed + 1',
  },
  { title: 'a claim past the gates', in: 'lease', replace: 'and r.gate is null', by: '' },
  {
    title: 'superseding without waiting for the running',
    in: 'supersede',
    replace: 'l.unmet + (select count(*) from added)',
    by: 'l.unmet + 0',
  },
  { title: 'superseding nobody', in: 'make_ready', replace: 'when l.supersedes and (', by: 'when false and (' },
  {
    title: 'asking again without blocking dependents',
    in: 'unfinish',
    replace: 'perform millrace.reblock(p_all);',
    by: '',
  },
  {
    title: 'asking again without reviving',
    in: 'try_lock_ended',
    replace: `case when d.state = 'skipped' then d.culprit end`,
    by: 'null::bigint',
  },
  {
    title: 'a cycle that is let in',
    in: 'require',
    replace: 'perform millrace.refuse_cycle(p_dependent, p_prerequisites);',
    by: '',
  },
  {
    title: 'a failure that dooms nobody',
    in: 'settle',
    replace: `if p_state <> 'succeeded' or 'failed' = any(v_conditions) then`,
    by: 'if false then',
  },
  {
    title: 'a release by hand that forgets the doomed',
    in: 'release',
    replace: 'and l.unmet > 0',
    by: 'and l.unmet < 0',
  },
  {
    title: 'a put back task that forgets it is doomed',
    in: 'put_back',
    replace: 'any(p_back) and l.unmet > 0',
    by: 'any(p_back) and l.unmet < 0',
  },
  {
    title: 'a lost lease that revives a canceled task',
    in: 'requeue',
    replace: 'filter (where s.cancel_cause is not null)',
    by: 'filter (where false)',
  },
  {
    title: 'a rerun that nobody follows',
    in: 'conclude',
    replace: 'perform millrace.spread_rerun(v_reruns)',
    by: 'null',
  },
  {
    title: 'a claim that subscribers are not told of',
    in: 'lease',
    replace: 'if v_succeeded is not null or v_leased is not null then',
    by: 'if false then',
  },
  {
    title: 'a success that is told after what follows from it',
    in: 'lease',
    replace: 'if v_succeeded is not null and (v_has_effects or v_due <= clock_timestamp()) then',
    by: 'if false then',
  },
  {
    title: 'a release that subscribers are not told of',
    in: 'conclude',
    replace: 'insert into millrace.outbox (readied) values (v_readied);',
    by: '',
  },
  {
    title: 'a delay that subscribers are not told of',
    in: 'make_ready',
    replace: 'where m.state <> m.prior\n    group by m.state',
    by: `where m.state = 'ready'\n    group by m.state`,
  },
  {
    title: 'an end that subscribers are not told of',
    in: 'conclude',
    replace: 'from gone g\n    group by coalesce(p_cause',
    by: 'from gone g where false\n    group by coalesce(p_cause',
  },
  {
    title: 'a return that subscribers are not told of',
    in: 'put_back',
    replace: 'from kept k\n    group by',
    by: 'from kept k where false\n    group by',
  },
  {
    title: 'a revival that subscribers are not told of',
    in: 'unfinish',
    replace: 'from asked a\n    group by',
    by: `from asked a where a.name <> 'revived'\n    group by`,
  },
]

/** Noticed only when transactions overlap. */
const overlaps: Mutant[] = [
  { title: 'prerequisites that are not locked', in: 'lock_prerequisites', replace: ' for key share', by: '' },
  {
    title: 'a release that is lost when its task is locked',
    in: 'unblock',
    replace: 'if cardinality(v_counted) is distinct from cardinality(p_dependents) then',
    by: 'if false then',
  },
  {
    title: 'a skip that is lost when its task is locked',
    in: 'skip_doomed',
    replace: 'where x.id = any(v_left)',
    by: 'where false',
  },
  {
    title: 'a gate that is lost when it is locked',
    in: 'open_gates',
    replace: 'where not (x.gate = any(v_locked))',
    by: 'where false',
  },
  {
    title: 'a task at a gate that is passed over when it is locked',
    in: 'open_gates',
    replace: 'if v_waiting > cardinality(v_entering) then',
    by: 'if false then',
  },
  {
    title: 'a milestone that is lost when it is locked',
    in: 'complete',
    replace: 'if cardinality(v_ids) < cardinality(p_ids) then',
    by: 'if false then',
  },
  {
    title: 'a late release that subscribers are not told of',
    in: 'pump',
    replace: 'insert into millrace.outbox (readied) values (v_a);',
    by: '',
  },
  {
    title: 'asking again without locking dependents',
    in: 'try_lock_ended',
    replace: 'for no key update skip locked',
    by: '',
  },
  {
    title: 'asking again without locking prerequisites',
    in: 'try_lock_ended',
    replace: 'for key share skip locked',
    by: '',
  },
  {
    title: 'an event that is passed over when it commits late',
    in: 'sequence_outbox',
    replace: 'on o.xid = running.xid',
    by: 'on false',
  },
  {
    title: 'events in the order in which their transactions began',
    in: 'sequence_outbox',
    replace: 'window line as (order by told.id)',
    by: 'window line as (order by told.xid, told.id)',
  },
]

async function mutate(
  db: { query(text: string, values?: unknown[]): Promise<{ rows: { text: string }[] }> },
  mutant: Mutant,
) {
  const { rows } = await db.query(
    `select pg_get_functiondef(p.oid) as text from pg_proc p where p.pronamespace = 'millrace'::regnamespace and p.proname = $1`,
    [mutant.in],
  )
  const text = rows[0]?.text ?? ''
  expect(text, `millrace.${mutant.in} contains what is to be broken`).toContain(mutant.replace)
  await db.query(text.replaceAll(mutant.replace, mutant.by))
}

/** Whether a case failed for what the mutant does, and not because its text is no SQL. */
async function noticed(run: Promise<void>): Promise<boolean> {
  try {
    await run
    return false
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: string }
    if (code?.startsWith('42')) throw error
    return true
  }
}

/** The case that noticed the mutant before is tried first: when the commands have changed since, all are looked through. */
async function isNoticed(run: (parameters: object) => Promise<void>, { title }: Mutant): Promise<boolean> {
  const at = found[title]
  const one = { numRuns: 1, endOnFailure: true, seed: SEED, path: String(at) }
  if (at !== undefined && (await noticed(run(one)))) return true
  return noticed(run({ numRuns: 2000, endOnFailure: true, seed: SEED }))
}

// Looking for the case that shows a mutant is quick for most and takes minutes for a few.
const LIMIT_MS = 600_000

const every = <T>(nth: number, all: readonly T[]): T[] => all.filter((_, i) => i % nth === 0)

describe('one command after another', { timeout: LIMIT_MS }, () => {
  test.each(inForm(every(6, steps), steps))('$title', async (mutant) => {
    await using db = await database()
    await mutate(db.pool, mutant)
    expect(await isNoticed((parameters) => compare(db.databaseUrl, parameters), mutant), 'noticed').toBe(true)
  })
})

describe('overlapping transactions', { timeout: LIMIT_MS }, () => {
  test.each(inForm(overlaps.slice(0, 2), overlaps))('$title', async (mutant) => {
    await using db = await database()
    await mutate(db.pool, mutant)
    expect(await isNoticed((parameters) => interleave(db.databaseUrl, parameters), mutant), 'noticed').toBe(true)
  })
})
