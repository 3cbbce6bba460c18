// Creating requests that may be repeated: what the caller's Idempotency-Key means.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestKey, Tx } from '../access/index.ts'
import type { Route } from '../api/index.ts'
import { Problem } from './problems.ts'

export type OnceOptions<Body> = {
  /** What the request asks for, where that is not its JSON body: the digest of an uploaded file. */
  readonly fingerprint?: string
  /** The body to keep for repetitions, where it holds what must not be kept: a secret. */
  readonly kept?: (body: Body) => Body
}

const KEPT_HEADERS = ['location', 'etag']

/**
 * Runs `work` in one transaction and answers its body. With an Idempotency-Key the answer is kept in the same transaction,
 * and a repetition is given it again, with its status, under `Idempotency-Replayed: true`. The status and
 * headers that `work` sets on the reply are part of the answer.
 */
export async function runOnce<Body>(
  { route, request, reply }: { route: Route; request: FastifyRequest; reply: FastifyReply },
  work: (tx: Tx) => Promise<Body>,
  options: OnceOptions<Body> = {},
): Promise<Body> {
  const result = await request.server.access.once(keyOf(route, request, options.fingerprint), work, (body) => ({
    status: reply.statusCode,
    headers: Object.fromEntries(
      KEPT_HEADERS.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
    ),
    body: JSON.stringify(options.kept === undefined ? body : options.kept(body)) ?? '',
  }))
  if ('done' in result) return result.done
  const { status, headers, body } = result.replayed
  reply.status(status).headers(headers).header('idempotency-replayed', 'true')
  return body === '' ? (undefined as Body) : JSON.parse(body)
}

function keyOf(route: Route, request: FastifyRequest, fingerprint: string | undefined): RequestKey | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || !route.isCreating) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new Problem('invalid', 'an Idempotency-Key has 1 to 255 printable characters without spaces')
  }
  const asked = [request.method, request.url, fingerprint ?? JSON.stringify(request.body) ?? '']
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest()
  return { key, actor: request.identity?.name ?? 'anyone', fingerprint: digest }
}
