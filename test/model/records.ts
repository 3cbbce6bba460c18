// What is on record of performances, when all of them are over.
import { expect } from 'vitest'
import type { Session } from './session.ts'

/** What callbacks wrote, but for what stands beside exactly one outcome on record. */
export const WRITES_WITHOUT_OUTCOME = `
  select w.task, w.epoch, w.tag from written w
  where (
    select count(*) from (
      select from millrace.done d where d.id = w.task and d.epoch = w.epoch and d.holder = w.holder and d.prior is null
      union all
      select from millrace.attempt a
      where a.task = w.task and a.epoch = w.epoch and a.holder = w.holder and a.outcome <> 'lease_lost'
    ) s
  ) <> 1
`

/** What callbacks wrote stands exactly for outcomes that were recorded; each performance has one end. */
export async function checkRecords(client: Session['client'], claims: ReadonlySet<string>): Promise<void> {
  const { rows: orphans } = await client.query(WRITES_WITHOUT_OUTCOME)
  expect(orphans, 'writes without their outcome').toEqual([])
  const { rows: twice } = await client.query(`
    select task, epoch, count(*) from (
      select id as task, epoch from millrace.done where prior is null
      union all select task, epoch from millrace.attempt
    ) s group by task, epoch having count(*) > 1
  `)
  expect(twice, 'performances that ended twice').toEqual([])
  const { rows: spared } = await client.query(`
    select s.task, s.target
    from millrace.supersede s join millrace.done d on d.id = s.task join millrace.done t on t.id = s.target
    where d.ready_at < t.finished_at and not exists (
      select from millrace.event e
      where e.task in (s.task, s.target) and e.prior in ('succeeded', 'failed', 'canceled', 'skipped')
    )
  `)
  expect(spared, 'tasks that became ready before what they supersede was over').toEqual([])
  const { rows: performed } = await client.query<{ name: string }>(`
    select id || ' at epoch ' || epoch as name from millrace.done where prior is null
    union all select task || ' at epoch ' || epoch from millrace.attempt
  `)
  expect(performed.map((row) => row.name).sort(), 'what was claimed has been performed').toEqual([...claims].sort())
}
