// Bodies in JSON. What could hurt while it is parsed or looked through is refused before: wrong bytes, deep nesting,
// numbers that reading would alter, bytes that are compressed. Keys such as `__proto__` are keys like any other: whatever
// takes them writes them with a spread or with `Object.fromEntries`, never by assignment.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findInexact } from '../api/index.ts'
import { Problem } from './problems.ts'

const MOST_LEVELS = 200

/** Takes JSON as `application/json` and nothing else; a route that takes other bytes adds a parser of its own. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', refuseEncoded)
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    // A client that always sends the header may have nothing to say.
    if (body.length === 0) return done(null, undefined)
    if (!isUtf8(body)) return done(new Problem('bad_request', 'the body is not UTF-8'))
    if (isTooDeep(body)) return done(new Problem('bad_request', `the body is nested deeper than ${MOST_LEVELS} levels`))
    try {
      done(null, parse(body.toString()))
    } catch (error) {
      done(error as Error)
    }
  })
}

function parse(body: string): unknown {
  const text = body.startsWith('\uFEFF') ? body.slice(1) : body
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new Problem('bad_request', `the body is not JSON: ${(error as Error).message}`)
  }
  const flaw = findInexact(text)
  if (flaw === undefined) return parsed
  const pointer = `/body${flaw.pointer}`
  throw new Problem('number_not_exact', `${pointer}: ${flaw.message}`, { errors: [{ ...flaw, pointer }] })
}

/** Bodies are read as they are: one that is compressed would be taken for something else. */
async function refuseEncoded(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const encoding = request.headers['content-encoding']?.trim()
  if (encoding === undefined || /^(identity)?$/i.test(encoding)) return
  reply.header('accept-encoding', 'identity')
  throw new Problem(
    'unsupported_encoding',
    `Content-Encoding is ${encoding.slice(0, 100)}; the server takes identity`,
    {
      remedy: 'send the body as it is, without Content-Encoding',
    },
  )
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}') as unknown as [
  number,
  number,
  number,
  number,
  number,
  number,
]

function isTooDeep(body: Buffer): boolean {
  let level = 0
  let isText = false
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i]
    if (isText) {
      if (byte === BACKSLASH) i += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      level += 1
      if (level > MOST_LEVELS) return true
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) level -= 1
  }
  return false
}
