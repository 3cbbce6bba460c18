import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { routes } from '../api/index.ts'
import type { Archives, IndexedItem } from '../archives/index.ts'
import { addRoute } from './add-route.ts'
import { positionOf, toPage } from './cursor.ts'

// The revision is part of the position: without a word about it, the second page would be of a younger one.
const position = z.tuple([z.string().regex(/^\d{1,15}$/), z.string().max(5000)])

/** `/v1/archives/{name}/index`: the files of an archive at any indexed revision. */
export function addArchiveIndex(app: FastifyInstance, archives: Pick<Archives, 'readIndex'>): void {
  const { read } = routes.archiveIndex
  addRoute(app, read, async ({ params, query }) => {
    const [rev = query.rev, start] = positionOf(read, query, position) ?? []
    const { path, q, recursive, limit } = query
    const page = await archives.readIndex({
      archive: params.name,
      rev,
      path,
      q,
      isRecursive: recursive,
      start,
      limit: limit + 1,
    })
    const list = toPage(read, query, page.items, {
      item: toItem,
      position: ({ next }) => [String(page.rev.number), next],
    })
    return { archive: params.name, rev: page.rev, file_count: page.files, ...list }
  })
}

const toItem = ({ path, kind, size, digest, lastChanged, properties, snippet }: IndexedItem) => ({
  path,
  kind,
  size,
  sha256: digest,
  last_changed: lastChanged,
  properties,
  snippet,
})
