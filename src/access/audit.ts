// Who did what. A row is written before the effect and completed after it, so that nothing that happened is missing even
// when the process dies in between. Bodies are not kept.
import type { Pool } from '../db/index.ts'
import { completeAudit, insertAudit, selectAudit } from './audit.sql.ts'
import { batched } from './batched.ts'
import type { Identity } from './identity.ts'

export type Deed = {
  readonly identity: Identity
  /** The name of the route. */
  readonly action: string
  /** The parameters of the path: what it was done to. */
  readonly subject: Readonly<Record<string, string>>
  readonly requestId: string
}

export type AuditEntry = {
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly via: string
  readonly action: string
  readonly subject: Readonly<Record<string, string>>
  readonly requestId: string
  /** Null: it was begun and is still under way, or the process died at it. */
  readonly status: number | null
}

export type AuditFilter = {
  readonly actor: string | null
  readonly action: string | null
  readonly since: Date | null
  readonly before: string | null
  readonly limit: number
}

export type Audit = {
  /** Writes that it begins; what is to be recorded must not happen before this has answered. */
  begin(deed: Deed): Promise<string>
  /** Writes how it ended, without keeping anybody waiting. */
  finish(id: string, status: number): void
  /** Writes down what was refused, without keeping anybody waiting. */
  refuse(deed: Deed, status: number): void
  /** The newest first. */
  list(filter: AuditFilter): Promise<AuditEntry[]>
  /** Answers when everything is written. */
  settled(): Promise<void>
}

export function createAudit(pool: Pool, onError: (error: unknown) => void): Audit {
  const write = batched(async (rows: { deed: Deed; status: number | null }[]) => {
    const inserted = await insertAudit(pool, {
      actors: rows.map(({ deed }) => deed.identity.name),
      vias: rows.map(({ deed }) => deed.identity.via),
      actions: rows.map(({ deed }) => deed.action),
      subjects: rows.map(({ deed }) => JSON.stringify(storable(deed.subject))),
      requests: rows.map(({ deed }) => deed.requestId),
      // The driver takes an array with nulls; the statement's type speaks of the rest.
      statuses: rows.map(({ status }) => status) as number[],
    })
    return inserted.map(({ id }) => id)
  })
  const complete = batched(async (rows: { id: string; status: number }[]) => {
    await completeAudit(pool, { ids: rows.map(({ id }) => id), statuses: rows.map(({ status }) => status) })
    return []
  })
  const pending = new Set<Promise<unknown>>()
  const later = (written: Promise<unknown>) => {
    const settled = written.catch(onError).finally(() => pending.delete(settled))
    pending.add(settled)
  }
  const settled = async () => {
    await Promise.all(pending)
  }
  return {
    begin: (deed) => write({ deed, status: null }),
    finish: (id, status) => later(complete({ id, status })),
    refuse: (deed, status) => later(write({ deed, status })),
    async list(filter) {
      // Whoever asks this server sees what it has done until now.
      await settled()
      const rows = await selectAudit(pool, filter)
      return rows.map(({ request_id: requestId, subject, ...row }) => ({
        ...row,
        requestId,
        subject: subject as Record<string, string>,
      }))
    },
    settled,
  }
}

const MOST_CHARACTERS = 500

/** Paths are what callers like: PostgreSQL stores neither U+0000 nor half a character, and nobody reads pages of it. */
const storable = (subject: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(subject).map(([name, value]) => [
      name,
      Buffer.from(value.slice(0, MOST_CHARACTERS)).toString().replaceAll('\u0000', '\ufffd'),
    ]),
  )
