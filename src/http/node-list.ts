import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyAnswered, type QueryOf, routes } from '../api/index.ts'
import type { Metadata, Nodes } from '../nodes/index.ts'
import { addRoute } from './add-route.ts'
import { pidOf, requireReach, toMetadata } from './node-shapes.ts'
import { Problem } from './problems.ts'
import { patienceOf } from './wait.ts'

const WAIT_MS = 60_000

type Query = QueryOf<typeof routes.nodes.list>
type Row = Extract<BodyAnswered<typeof routes.nodes.list>, readonly unknown[]>[number]

/** `GET /v1/nodes`. */
export function addNodeList(app: FastifyInstance, nodes: Nodes): void {
  addRoute(app, routes.nodes.list, async (asked) => {
    const { query, identity, request, reply } = asked
    if (identity.limit !== null) await requireReach(nodes, identity, [query.parent ?? 'root'], 'itself and below')
    const pid = pidOfList(query)
    if (query.start !== undefined && pidOf(query) !== pid) {
      throw new Problem('gone', 'the pid belongs to a list with other filters', {
        remedy: 'begin again, without start and pid',
      })
    }
    const options = {
      types: query.type,
      states: query.state,
      parent: query.parent === 'root' ? null : query.parent,
      after: startOf(query) ?? query.new,
      limit: query.limit,
    }
    const isWaiting = query.new !== undefined && query.start === undefined
    const ms = patienceOf(request) || WAIT_MS
    if (isWaiting && ms === patienceOf(request)) reply.header('preference-applied', `wait=${ms / 1000}`)
    const page = isWaiting ? await nodes.waitForNew(options, { ms, signal: asked.signal }) : await nodes.list(options)
    const rows = page.nodes.map((node) => pick(node, query.metadata))
    const last = page.nodes.at(-1)
    if (!page.hasMore || last === undefined) return rows
    reply.header('link', `<${linkTo(request, last.id, pid)}>; rel="next"`)
    return { nodes: rows, pagination: { next: last.id, pid } }
  })
}

function startOf({ start }: Query): string | undefined {
  if (start === undefined || /^\d{1,19}$/.test(start)) return start
  const flaw = { pointer: '/query/start', message: 'must be the `next` of the page before' }
  throw new Problem('invalid', `${flaw.pointer}: ${flaw.message}`, { errors: [flaw] })
}

/** Names the list: what is read by pages is all of the same filters. */
function pidOfList({ type, state, parent, new: newer }: Query): string {
  const filters = JSON.stringify([type ?? null, state ?? null, parent ?? null, newer ?? null])
  return createHash('sha256').update(filters).digest('base64url').slice(0, 12)
}

function pick(node: Metadata, fields: Query['metadata']): Row {
  const all = toMetadata(node)
  if (fields === undefined) return all
  return { id: all.id, ...Object.fromEntries(fields.map((field) => [field, all[field]])) }
}

function linkTo(request: FastifyRequest, start: string, pid: string): string {
  const { pathname, searchParams } = new URL(request.url, 'http://here')
  searchParams.delete('pagid')
  searchParams.set('start', start)
  searchParams.set('pid', pid)
  return `${pathname}?${searchParams.toString()}`
}
