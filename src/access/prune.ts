import { type Pool, unhurried } from '../db/index.ts'
import { pruneAccess } from './prune.sql.ts'

const BATCH = 1000

/** Deletes what has had its time: sessions, links, first answers, and audit rows older than `auditDays` (0: none). */
export async function prune(pool: Pool, { auditDays }: { auditDays: number }): Promise<void> {
  for (;;) {
    const { count } = await pruneAccess(unhurried(pool), { audit_days: auditDays, limit: BATCH })
    if (count < BATCH) return
  }
}
