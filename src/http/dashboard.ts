// The dashboard, as it was built into the package: files that never change under their names, and one page that starts
// it under every path that a person may open.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import statics from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Of the package, whether this runs from the sources or from what was built of them. */
const BUILT = fileURLToPath(new URL('../../dist/web/', import.meta.url))
/** What programs ask for; a path that is not there stays a problem for them and never becomes a page. */
const OF_PROGRAMS = /^\/(v1|livez|readyz|metrics|schemas|assets)(\/|$)/

declare module 'fastify' {
  interface FastifyInstance {
    /** Path under which browsers see the server; empty: the root. */
    readonly basePath: string
    /** Answers the page when a browser asks for one; false: it is not for a page. */
    readonly answerPage: (request: FastifyRequest, reply: FastifyReply) => boolean
  }
}

type Page = { readonly plain: Buffer; readonly br: Buffer; readonly gzip: Buffer; readonly etag: string }

/** Serves the dashboard. What is missing when nothing was built is answered as any other unknown path. */
export function addDashboard(app: FastifyInstance, basePath: string): void {
  const page = existsSync(`${BUILT}index.html`) ? readPage(basePath) : undefined
  app.decorate('basePath', basePath)
  app.decorate('answerPage', (request: FastifyRequest, reply: FastifyReply) => {
    if (page === undefined || !wantsPage(request)) return false
    sendPage(page, request, reply)
    return true
  })
  if (page === undefined) return
  app.register(statics, {
    root: `${BUILT}assets`,
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
    decorateReply: false,
  })
}

function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const path = url.split('?')[0] ?? ''
  if (method !== 'GET' && method !== 'HEAD') return false
  return !OF_PROGRAMS.test(path) && (headers.accept ?? '').includes('text/html')
}

function readPage(basePath: string): Page {
  const text = readFileSync(`${BUILT}index.html`, 'utf8').replace('<base href="/" />', `<base href="${basePath}/" />`)
  const plain = Buffer.from(text)
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  return { plain, br: brotliCompressSync(plain), gzip: gzipSync(plain), etag }
}

function sendPage(page: Page, { headers }: FastifyRequest, reply: FastifyReply): void {
  const accepted = String(headers['accept-encoding'] ?? '')
  const encoding = (['br', 'gzip'] as const).find((one) => accepted.includes(one))
  const etag = `W/"${page.etag}"`
  reply.headers({ 'cache-control': 'no-cache', vary: 'accept-encoding, accept', etag })
  if (headers['if-none-match'] === etag) {
    reply.status(304).send()
    return
  }
  if (encoding !== undefined) reply.header('content-encoding', encoding)
  reply
    .status(200)
    .type('text/html; charset=utf-8')
    .send(page[encoding ?? 'plain'])
}
