import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyAnswered, id, type QueryOf, routes } from '../api/index.ts'
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
    if (identity.limit !== null) {
      await requireReach(nodes, identity, [query.parent ?? query.down ?? 'root'], 'itself and below')
    }
    const line = lineOf(query)
    if (line !== undefined) return tellAll(nodes, await nodes.line(line), query.metadata)
    if (query.order === 'newest' && query.new !== undefined) throw refuse('new', 'waits in the order oldest alone')
    const start = startOf(query)
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
      order: query.order,
      after: start ?? query.new,
      limit: query.limit,
    }
    const isWaiting = query.new !== undefined && query.start === undefined
    const ms = patienceOf(request) || WAIT_MS
    if (isWaiting && ms === patienceOf(request)) reply.header('preference-applied', `wait=${ms / 1000}`)
    const page = isWaiting ? await nodes.waitForNew(options, { ms, signal: asked.signal }) : await nodes.list(options)
    const rows = await tellAll(nodes, page.nodes, query.metadata)
    const last = page.nodes.at(-1)
    if (!page.hasMore || last === undefined) return rows
    reply.header('link', `<${linkTo(request, last.id, pid)}>; rel="next"`)
    return { nodes: rows, pagination: { next: last.id, pid } }
  })
}

function startOf({ start }: Query): string | undefined {
  if (start === undefined || id.safeParse(start).success) return start
  throw refuse('start', 'must be the `next` of the page before')
}

/** Names the list: what is read by pages is all of the same filters. */
function pidOfList({ type, state, parent, order, new: newer }: Query): string {
  const filters = JSON.stringify([type ?? null, state ?? null, parent ?? null, newer ?? null, order])
  return createHash('sha256').update(filters).digest('base64url').slice(0, 12)
}

/** Which line of the tree is asked for; undefined: a list. What a line cannot be asked along with is refused. */
function lineOf(query: Query): { of: string; towards: 'up' | 'down'; limit: number } | undefined {
  const towards = query.up === undefined ? 'down' : 'up'
  const of = query[towards]
  if (of === undefined) return undefined
  const others = ['type', 'state', 'parent', 'new', 'start', ...(towards === 'up' ? ['down' as const] : [])] as const
  const other = others.find((name) => query[name] !== undefined)
  if (other !== undefined) throw refuse(other, `cannot be given along with ${towards}`)
  return { of, towards, limit: query.limit }
}

function refuse(name: string, message: string): Problem {
  const flaw = { pointer: `/query/${name}`, message }
  return new Problem('invalid', `${flaw.pointer}: ${flaw.message}`, { errors: [flaw] })
}

const DETAILS: ReadonlySet<string> = new Set(['summary', 'result', 'children'])

async function tellAll(nodes: Nodes, found: readonly Metadata[], fields: Query['metadata']): Promise<Row[]> {
  if (fields === undefined) return found.map(toMetadata)
  const descriptions = fields.some((field) => DETAILS.has(field)) ? await nodes.describe(found) : undefined
  return found.map((node) => {
    const all: Row = { ...toMetadata(node), ...descriptions?.get(node.id) }
    return { id: node.id, ...Object.fromEntries(fields.map((field) => [field, all[field]])) }
  })
}

function linkTo(request: FastifyRequest, start: string, pid: string): string {
  const { pathname, searchParams } = new URL(request.url, 'http://here')
  searchParams.delete('pagid')
  searchParams.set('start', start)
  searchParams.set('pid', pid)
  return `${pathname}?${searchParams.toString()}`
}
