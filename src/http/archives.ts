import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Identity } from '../access/index.ts'
import { routes } from '../api/index.ts'
import { type Archive, type Archives, type Loom, loomEdgeKinds, loomStates } from '../archives/index.ts'
import { addRoute } from './add-route.ts'
import { iso, toFrontier, toRevision, toSummary } from './archive-shapes.ts'
import { positionOf, toPage } from './cursor.ts'
import { Problem } from './problems.ts'
import { setVersion } from './version.ts'

const CATCH_UP_MS = 10_000
const MOST_FRONTIERS = 100

/** `/v1/archives`: watched repositories, their revisions, and what came of each. */
export function addArchives(app: FastifyInstance, archives: Archives): void {
  addManagement(app, archives)
  addStops(app, archives)
  addNotices(app, archives)
  addRevisions(app, archives)
}

function addManagement(app: FastifyInstance, archives: Archives): void {
  const { archives: contract } = routes
  addRoute(app, contract.put, async ({ params, body, identity, version, reply }) => {
    const { archive, isNew } = await archives.register(params.name, {
      ...body,
      source: body.source as Archive['source'],
      actor: identity.name,
      version: toNumber(version),
    })
    if (isNew) reply.status(201).header('location', `/v1/archives/${encodeURIComponent(archive.name)}`)
    return answer(reply, archive)
  })
  addRoute(app, contract.list, async ({ query }) => {
    const after = positionOf(contract.list, query, z.string()) ?? ''
    const limit = query.include === undefined ? query.limit : Math.min(query.limit, MOST_FRONTIERS)
    const rows = await archives.list({ after, limit: limit + 1 })
    const found = query.include === undefined ? undefined : await archives.frontiers(rows.slice(0, limit))
    const item = (row: Archive) => ({ ...toArchive(row), ...toFrontier(row, found?.get(row.id)) })
    return toPage(contract.list, { ...query, limit }, rows, { item, position: (row) => row.name })
  })
  addRoute(app, contract.get, async ({ params, reply }) => answer(reply, await archives.find(params.name)))
  addRoute(app, contract.remove, async ({ params, version }) => {
    await archives.remove(params.name, toNumber(version))
    return undefined
  })
}

function addStops(app: FastifyInstance, archives: Archives): void {
  const { archives: contract } = routes
  addRoute(app, contract.hold, async ({ params, reply }) => answer(reply, await archives.hold(params.name)))
  addRoute(app, contract.release, async ({ params, reply }) => answer(reply, await archives.release(params.name)))
  addRoute(app, contract.catchUp, async ({ params, body, reply, signal }) =>
    answer(reply, await archives.catchUp(params.name, { ...body, waitMs: CATCH_UP_MS, signal })),
  )
}

function addNotices(app: FastifyInstance, archives: Archives): void {
  const { archives: contract } = routes
  const announce = async (
    { name, identity, reply }: { name: string; identity: Identity; reply: FastifyReply },
    notice: Omit<Parameters<Archives['arrive']>[1], 'actor'>,
  ) => {
    requireOwn(identity, name)
    const { isKnown } = await archives.arrive(name, { ...notice, actor: identity.name })
    reply.status(isKnown ? 200 : 202)
    return { archive: name, rev: notice.rev, known: isKnown }
  }
  addRoute(app, contract.commit, ({ params, body, identity, reply }) =>
    announce({ name: params.name, identity, reply }, body),
  )
  addRoute(app, contract.announce, ({ params, identity, reply }) =>
    announce({ name: params.name, identity, reply }, { rev: params.rev }),
  )
}

/** A token that may announce revisions of one archive may do so for that one alone. */
function requireOwn({ limit, name: who }: Identity, name: string): void {
  if (limit === null || limit.name === name) return
  throw new Problem('forbidden', `${who} is limited to the archive "${limit.name}"`)
}

function addRevisions(app: FastifyInstance, archives: Archives): void {
  const { archives: contract } = routes
  addRoute(app, contract.revisions, async ({ params, query }) => {
    const before = positionOf(contract.revisions, query, z.int())
    const rows = await archives.revisions(params.name, { before, limit: query.limit + 1 })
    return toPage(contract.revisions, query, rows, { item: toSummary, position: (row) => row.number })
  })
  addRoute(app, contract.revision, async ({ params }) => toRevision(await archives.revision(params.name, params.rev)))
  addRoute(app, contract.gaps, async ({ params }) => {
    const { archive, gaps } = await archives.gaps(params.name)
    const items = gaps.map((gap) => ({ ...gap, since: iso(gap.since) }))
    return { planned: archive.planned.number, youngest: archive.youngest.number, items }
  })
  addRoute(app, contract.loom, async ({ params, query }) => toLoom(await archives.loom(params.name, query)))
}

function answer(reply: FastifyReply, archive: Archive) {
  setVersion(reply, archive.version)
  return toArchive(archive)
}

/** A version that is no number matches none. */
const toNumber = (version: string | undefined) => (version === undefined ? undefined : Number(version))

const toArchive = (archive: Archive) => ({
  name: archive.name,
  source: archive.source,
  // Nobody is shown one that was removed.
  state: archive.state as Exclude<Archive['state'], 'removed'>,
  identity: archive.identity,
  first: archive.first,
  planned: archive.planned,
  youngest: archive.youngest,
  problem: archive.problem,
  announced_at: iso(archive.announcedAt),
  looked_at: iso(archive.lookedAt),
  created_at: archive.createdAt.toISOString(),
  created_by: archive.createdBy,
  version: archive.version,
})

const toLoom = ({ archive, columns, rows, gaps, hasMore }: Loom) => ({
  archive: archive.name,
  planned: archive.planned.number,
  youngest: archive.youngest.number,
  columns: [...columns],
  states: [...loomStates],
  edges: [...loomEdgeKinds],
  rows: rows.map(({ problemCount, cells, edges, ...row }) => ({
    ...row,
    problem_count: problemCount,
    cells: [...cells],
    edges: [...edges],
  })),
  gaps: gaps.map((gap) => ({ ...gap, since: iso(gap.since) })),
  next_before: hasMore ? (rows.at(-1)?.number ?? null) : null,
})
