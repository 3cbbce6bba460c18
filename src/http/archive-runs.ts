import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import type { ArchiveRuns, PlannedRun } from '../archives/index.ts'
import { addRoute } from './add-route.ts'

/** Runs of archives by hand, and again what a revision ran. */
export function addArchiveRuns(app: FastifyInstance, archives: ArchiveRuns): void {
  const { runs } = routes
  addRoute(app, runs.create, async ({ params, body, identity, once }) => {
    const { workflow = '', task, rev, inputs = {} } = body
    const asked = {
      archive: params.name,
      chosen: task === undefined ? { workflow } : { task },
      rev: typeof rev === 'string' ? revOf(rev) : rev,
      inputs,
      actor: identity.name,
    }
    return once(async (tx) => toPlanned(params.name, await archives.run(tx, asked)))
  })
  addRoute(app, runs.rerun, async ({ params, query, body, identity, once }) =>
    once(async (tx) => {
      const { expected_count: expectedCount, ...given } = body
      const asked = {
        ...given,
        archive: params.name,
        rev: revOf(params.rev),
        actor: identity.name,
        expectedCount,
        isDryRun: query.dry_run === '1',
      }
      const { number, tasks } = await archives.rerun(tx, asked)
      const suffix = body.run === undefined ? '' : `#${body.run}`
      return { tasks: tasks.map(({ id, name }) => ({ id, key: `${params.name}@${number}:${name}${suffix}` })) }
    }),
  )
}

/** A number, or the id that the repository gives. */
export const revOf = (text: string): number | string => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : text)

export const toPlanned = (archive: string, { rev, run, tasks }: PlannedRun & { readonly rev: number }) => ({
  archive,
  rev,
  run,
  tasks: tasks.map(({ id, key }) => ({ id, key })),
})
