import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { routes } from '../api/index.ts'
import type { Millrace } from '../engine/index.ts'
import type { Artifact } from '../storage/index.ts'
import { addRoute } from './add-route.ts'
import { positionOf, toPage } from './cursor.ts'
import { findTask } from './find-task.ts'
import { Problem } from './problems.ts'
import { isKnown } from './version.ts'

/** Files that tasks have left behind. */
export type Artifacts = {
  list(of: { task: string; after: number | undefined; limit: number }): Promise<Artifact[]>
  find(task: string, path: string): Promise<Artifact | undefined>
  read(artifact: Artifact, range: { start: number; end: number }): AsyncIterable<Buffer>
}

/** `/v1/tasks/{id}/artifacts`: what a task has left behind, and the bytes of it. */
export function addArtifacts(app: FastifyInstance, millrace: Millrace, artifacts: Artifacts): void {
  const { list, get } = routes.artifacts
  addRoute(app, list, async (asked) => {
    const { query } = asked
    const task = await findTask(millrace, asked)
    const rows = await artifacts.list({ task, after: positionOf(list, query, z.int32()), limit: query.limit + 1 })
    return toPage(list, query, rows, { item: toShown, position: ({ number }) => number })
  })
  addRoute(app, get, async (asked) => {
    const { params, request, reply } = asked
    const task = await findTask(millrace, asked)
    const artifact = await artifacts.find(task, params.path)
    if (artifact === undefined)
      throw new Problem('artifact_not_found', `task ${task} has left no ${params.path} behind`)
    describe(reply, artifact)
    if (isKnown(request, reply)) return reply.status(304).send()
    const range = rangeOf(request, reply, artifact)
    const { start, end } = range ?? { start: 0, end: artifact.size }
    if (range !== undefined) reply.status(206).header('content-range', `bytes ${start}-${end - 1}/${artifact.size}`)
    reply.header('content-length', String(end - start))
    if (request.method === 'HEAD') return reply.send()
    return reply.send(Readable.from(artifacts.read(artifact, { start, end }), { objectMode: false }))
  })
}

/** Nothing that a task has written is ever shown by a browser as a page of this server. */
function describe(reply: FastifyReply, { path, digest }: Artifact): void {
  const name = path.split('/').at(-1) ?? path
  const plain = name.replace(/[^\w.-]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  reply
    .type('application/octet-stream')
    .header('etag', `"${digest.toString('hex')}"`)
    .header('repr-digest', `sha-256=:${digest.toString('base64')}:`)
    .header('accept-ranges', 'bytes')
    .header('content-disposition', `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('x-content-type-options', 'nosniff')
}

/** The part that was asked for. Several parts, and forms that are not understood, are answered with the whole (RFC 9110, 14.2). */
function rangeOf(request: FastifyRequest, reply: FastifyReply, { size, path }: Artifact) {
  const condition = request.headers['if-range']
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (condition !== undefined && condition !== reply.getHeader('etag')) return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (start < end) return { start, end }
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  reply.header('content-range', `bytes */${size}`)
  throw new Problem('range_not_satisfiable', `${path} has ${size} bytes, and none in the range that was asked for`)
}

const toShown = ({ path, size, digest, isExecutable, createdAt }: Artifact) => ({
  path,
  size,
  sha256: digest.toString('hex'),
  executable: isExecutable,
  created_at: createdAt.toISOString(),
})
