import type { FastifyInstance } from 'fastify'
import { id, type QueryOf, routes } from '../api/index.ts'
import type { Secret, Secrets } from '../secrets/index.ts'
import { addRoute } from './add-route.ts'
import { positionOf, toPage } from './cursor.ts'
import { setVersion } from './version.ts'

/** `/v1/secrets` and `/v1/archives/{archive}/secrets`: what is told of secrets, and how they are set. */
export function addSecrets(app: FastifyInstance, secrets: Secrets): void {
  const { secrets: of } = routes
  const page = async (route: typeof of.list | typeof of.listOf, query: QueryOf<typeof of.list>, archive?: string) => {
    const after = positionOf(route, query, id)
    const rows = await secrets.list({ archive, after, limit: query.limit + 1 })
    return toPage(route, query, rows, { item: toShown, position: (row) => row.id })
  }
  addRoute(app, of.list, ({ query }) => page(of.list, query))
  addRoute(app, of.listOf, ({ params, query }) => page(of.listOf, query, params.archive))
  for (const route of [of.set, of.setOf]) {
    addRoute(app, route, async ({ params, body, identity, version, reply }) => {
      const set = await secrets.set({ ...placeOf(params), value: body.value, ...by(identity.name, version) })
      setVersion(reply, set.version)
      return toShown(set)
    })
  }
  for (const route of [of.remove, of.removeOf]) {
    addRoute(app, route, async ({ params, identity, version }) => {
      await secrets.remove({ ...placeOf(params), ...by(identity.name, version) })
      return undefined
    })
  }
}

const placeOf = ({ name, ...params }: { name: string; archive?: string }) => ({ name, archive: params.archive ?? '' })

/** A version that is no number matches none. */
const by = (actor: string, version: string | undefined) => ({
  actor,
  version: version === undefined ? undefined : Number(version),
})

const toShown = (secret: Secret) => ({
  name: secret.name,
  archive: secret.archive === '' ? null : secret.archive,
  version: secret.version,
  created_at: secret.createdAt.toISOString(),
  created_by: secret.createdBy,
  changed_at: secret.changedAt.toISOString(),
  changed_by: secret.changedBy,
})
