import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import { addRoute } from './add-route.ts'

export type About = {
  readonly version: string
  readonly auditDays: number
  /** Asked anew each time: a database grows. */
  readonly database: () => Promise<{ readonly version: string; readonly schema: number; readonly sizeBytes: number }>
}

/** `/v1/about`: which release this is, on which database. */
export function addAbout(app: FastifyInstance, { version, auditDays, database }: About): void {
  addRoute(app, routes.about.server, async () => {
    const { sizeBytes, ...facts } = await database()
    return {
      version,
      node: process.versions.node,
      database: { ...facts, size_bytes: sizeBytes },
      audit_days: auditDays,
    }
  })
}
