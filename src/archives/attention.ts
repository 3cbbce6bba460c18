import type { Db } from '../db/index.ts'
import type { Attention } from '../engine/index.ts'
import { troubledArchives, troubledSchedules } from './attention.sql.ts'

const MOST = 100

/** Archives that do not go on, and schedules that do not run. */
export async function attention(db: Db, since: Date): Promise<Attention[]> {
  const [archives, schedules] = await Promise.all([
    troubledArchives(db, { limit: MOST }),
    troubledSchedules(db, { since, limit: MOST }),
  ])
  return [...archives.flatMap(ofArchive), ...schedules.map(ofSchedule)]
}

type Row = Awaited<ReturnType<typeof troubledArchives>>[number]

function ofArchive(row: Row): Attention[] {
  const own = { archive: row.name, scope: `archive:${row.name}`, count: 1 }
  const found: Attention[] = []
  const problem = row.problem as { message?: string; since?: string } | null
  if (row.state === 'broken') {
    const sentence = `archive ${row.name} is broken: ${problem?.message ?? 'its history cannot be planned'}`
    const since = problem?.since === undefined ? null : new Date(problem.since)
    found.push({ ...own, code: 'archive_broken', severity: 'critical', sentence, since, action: 'archives.catch_up' })
  }
  if (row.state === 'held') {
    const sentence = `archive ${row.name} is held: its revisions are not planned`
    found.push({ ...own, code: 'archive_held', severity: 'notice', sentence, since: null, action: 'archives.release' })
  }
  if (row.failing_since !== null) {
    const message = (row.look_problem as { message?: string } | null)?.message ?? 'it does not answer'
    const sentence = `the repository of ${row.name} cannot be read: ${message}`
    const since = row.failing_since
    found.push({
      ...own,
      code: 'archive_unreadable',
      severity: 'critical',
      sentence,
      since,
      action: 'archives.catch_up',
    })
  }
  if (row.flaw !== null) {
    const sentence = `the workflow files of ${row.name} have errors at revision ${row.planned}: ${row.flaw}`
    const at = { revision: Number(row.planned), since: row.flawed_at }
    found.push({ ...own, ...at, code: 'definition_broken', severity: 'warning', sentence, action: null })
  }
  const gap = row.state === 'held' ? undefined : ofGap(row)
  return gap === undefined ? found : [...found, { ...own, ...gap }]
}

/** An archive that is only announced waits for what is missing; any other reads it, and is behind for a moment. */
function ofGap({ name, type, planned, youngest, next_announced: next, announced_at: since }: Row) {
  const first = Number(planned) + 1
  if (type === 'push') {
    if (next === null || Number(next) <= first) return undefined
    const last = Number(next) - 1
    const which = last > first ? `revisions ${first} to ${last} of ${name} were` : `revision ${first} of ${name} was`
    const sentence = `${which} not announced, and revision ${next} waits for ${last > first ? 'them' : 'it'}`
    const of = { code: 'revision_gap', severity: 'critical', action: 'archives.commit' } as const
    return { ...of, sentence, since, count: last - first + 1, revision: first }
  }
  const behind = Number(youngest) - Number(planned)
  if (behind <= 0) return undefined
  const sentence = `${name} is ${behind} ${behind === 1 ? 'revision' : 'revisions'} behind its repository`
  const of = { code: 'revisions_behind', severity: 'notice', action: 'archives.catch_up' } as const
  return { ...of, sentence, since, count: behind, revision: first }
}

function ofSchedule(row: Awaited<ReturnType<typeof troubledSchedules>>[number]): Attention {
  const own = { schedule: row.id, archive: row.archive, scope: `archive:${row.archive}`, count: 1 }
  const name = `the schedule of ${row.workflow} in ${row.archive}`
  if (row.late_since !== null) {
    const sentence = `${name} is late: no server has taken its time`
    return {
      ...own,
      code: 'schedule_late',
      severity: 'critical',
      sentence,
      since: row.late_since,
      action: 'schedules.run',
    }
  }
  if (row.problem !== null) {
    const sentence = `${name} cannot run: ${row.problem}`
    return { ...own, code: 'schedule_broken', severity: 'warning', sentence, since: null, action: null }
  }
  if (row.paused_at !== null) {
    const sentence = `${name} is paused${row.paused_by === null ? '' : ` by ${row.paused_by}`}`
    return {
      ...own,
      code: 'schedule_paused',
      severity: 'notice',
      sentence,
      since: row.paused_at,
      action: 'schedules.resume',
    }
  }
  const sentence = `${name} has missed times while no server ran`
  return {
    ...own,
    code: 'schedule_missed',
    severity: 'warning',
    sentence,
    since: row.missed_since,
    action: 'schedules.run',
  }
}
