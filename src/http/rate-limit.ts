// How much one caller may ask for in a minute. Counted in the memory of each server: several servers allow several times as
// much. Three measures: callers with a token or session each have their own; the rest share one by address; and failed
// attempts to get in have a small one, so that guessing takes for ever.
import { createHash } from 'node:crypto'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../access/index.ts'
import { credentialsOf } from './identity.ts'
import { Problem } from './problems.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly rates: Rates
  }
}

export type Rates = {
  /** Tells who sends the request. Counts it, and throws `rate_limited` when it is one too many. */
  identify(request: FastifyRequest, reply: FastifyReply): Promise<Identity | undefined>
  /** Counts a request by its address alone. */
  countStranger(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Throws `rate_limited` while too many attempts to get in have failed from the request's address. */
  refuseGuessing(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Counts a failed attempt to get in. */
  countFailure(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

type Measure = ReturnType<FastifyInstance['createRateLimit']>

const STRANGERS = 10 // strangers have a tenth of what a caller with a token has
const FAILURES = 100 // and a hundredth of it in wrong tokens and links

/** Puts `app.rates` onto the server. `perMinute` 0: nothing is limited. */
export function addRateLimit(app: FastifyInstance, perMinute: number): void {
  const share = (of: number) => Math.max(1, Math.floor(perMinute / of))
  const measure = (max: number, keyGenerator?: (request: FastifyRequest) => string): Measure =>
    app.createRateLimit({ max, timeWindow: 60_000, ...(keyGenerator && { keyGenerator }) })
  let callers: Measure
  let strangers: Measure
  let failures: Measure
  app.register(rateLimit, { global: false, cache: 10_000, ipv6Subnet: 64 })
  app.after(() => {
    callers = measure(perMinute, keyOf)
    strangers = measure(share(STRANGERS))
    failures = measure(share(FAILURES))
  })
  const count = async (by: Measure, request: FastifyRequest, reply: FastifyReply, isLooking = false) => {
    if (perMinute === 0) return
    const counted = await by(request, { increment: !isLooking })
    if (counted.isAllowed) return
    const isOver = counted.isExceeded || (isLooking && counted.remaining === 0)
    if (isLooking && !isOver) return
    reply.headers({
      'ratelimit-limit': counted.max,
      'ratelimit-remaining': counted.remaining,
      'ratelimit-reset': counted.ttlInSeconds,
    })
    if (!isOver) return
    reply.header('retry-after', Math.max(1, counted.ttlInSeconds))
    throw new Problem('rate_limited', `more than ${counted.max} in a minute; go on in ${counted.ttlInSeconds} s`)
  }
  const rates: Rates = {
    countStranger: (request, reply) => count(strangers, request, reply),
    refuseGuessing: (request, reply) => count(failures, request, reply, true),
    countFailure: (request, reply) => count(failures, request, reply),
    async identify(request, reply) {
      const credentials = credentialsOf(request)
      if (credentials.bearer === undefined && credentials.session === undefined) {
        await rates.countStranger(request, reply)
        return undefined
      }
      const isKnown = known.has(keyOf(request))
      if (isKnown) await count(callers, request, reply)
      else await rates.refuseGuessing(request, reply)
      const identity = await app.access.authenticate(credentials)
      if (identity === undefined) {
        known.delete(keyOf(request))
        await rates.countFailure(request, reply)
      } else if (!isKnown) {
        known.add(keyOf(request))
        await count(callers, request, reply)
      }
      return identity
    },
  }
  const known = createKnown()
  app.decorate('rates', rates)
}

/** One caller is one token or session. The secret itself stays out of maps. */
const keyOf = (request: FastifyRequest) => {
  const { bearer, session } = credentialsOf(request)
  return createHash('sha256')
    .update(bearer ?? session ?? '')
    .digest('base64url')
}

const MOST_KNOWN = 10_000

/**
 * Credentials that were good when they were last seen. They stay good to go while guesses from the same address are
 * refused: behind a proxy everybody has one address, and one wrong token must not lock all others out.
 */
function createKnown() {
  const keys = new Set<string>()
  return {
    has: (key: string) => keys.has(key),
    delete: (key: string) => keys.delete(key),
    add(key: string) {
      const [oldest] = keys
      if (keys.size >= MOST_KNOWN && oldest !== undefined) keys.delete(oldest)
      keys.add(key)
    },
  }
}
