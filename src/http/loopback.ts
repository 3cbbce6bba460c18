import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Says whether only this machine can reach what listens on `host`. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const plain = host.replace(/^::ffff:/i, '')
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}

/**
 * Says whether a request comes from this machine. A proxy here hands on requests of others, so one that
 * says it was forwarded does not count, and neither does one for another name: a web page elsewhere can
 * have its name resolve to 127.0.0.1.
 */
export function isLocal(request: FastifyRequest): boolean {
  const { headers } = request
  const isForwarded = Object.keys(headers).some((name) => name === 'forwarded' || name.startsWith('x-forwarded-'))
  const host = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return !isForwarded && isLoopback(request.socket.remoteAddress ?? '') && isLoopback(host)
}
