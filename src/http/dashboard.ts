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
export function addDashboard(app: FastifyInstance, basePath: string, version: string): void {
  const page = existsSync(`${BUILT}index.html`) ? readPage(basePath, version) : undefined
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
  // curl and monitors ask for the root without saying that they take HTML.
  if (path === '/') return true
  return !OF_PROGRAMS.test(path) && (headers.accept ?? '').includes('text/html')
}

/** The page says what it was made of: one that is open sees by it that the server has another by now. */
function readPage(basePath: string, version: string): Page {
  const based = readFileSync(`${BUILT}index.html`, 'utf8').replace('<base href="/" />', `<base href="${basePath}/" />`)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const build = hashOf([based, version, zone].join('\n'))
  const facts = { version, zone, build }
  const names = Object.entries(facts).map(([name, value]) => `<meta name="millrace-${name}" content="${value}" />`)
  const plain = Buffer.from(based.replace('<title>', `${names.join('\n    ')}\n    <title>`))
  return { plain, br: brotliCompressSync(plain), gzip: gzipSync(plain), etag: hashOf(plain) }
}

const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('base64url').slice(0, 22)

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
