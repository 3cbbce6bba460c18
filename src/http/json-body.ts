// Bodies in JSON. What could hurt while it is parsed or looked through is refused before: wrong bytes, deep nesting,
// keys that would reach the prototype of objects.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { Problem } from './problems.ts'

const MOST_LEVELS = 200

/** Takes JSON as `application/json` and nothing else; a route that takes other bytes adds a parser of its own. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // A client that always sends the header may have nothing to say.
    if (body.length === 0) return done(null, undefined)
    if (!isUtf8(body)) return done(new Problem('bad_request', 'the body is not UTF-8'))
    if (isTooDeep(body)) return done(new Problem('bad_request', `the body is nested deeper than ${MOST_LEVELS} levels`))
    return parse(request, body.toString(), done)
  })
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
