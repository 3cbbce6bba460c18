// What a request carries, held against the route's schemas: everything that is wrong is told at once.
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Route } from '../api/index.ts'
import { type Flaw, Problem } from './problems.ts'

const MOST_FLAWS = 50

export function parseAll(route: Route, request: FastifyRequest): Record<'params' | 'query' | 'body', unknown> {
  const flaws: Flaw[] = []
  const parse = (schema: z.ZodType | undefined, value: unknown, where: string): unknown => {
    if (schema === undefined) return undefined
    const result = schema.safeParse(value)
    if (!result.success) flaws.push(...result.error.issues.flatMap((issue) => toFlaws(issue, where)))
    return result.data
  }
  if (route.query === undefined) refuseUnknown(request.query as object)
  const params = parse(route.params, request.params, '/path')
  const query = parse(route.query, request.query, '/query')
  // No body at all reaches a handler as null.
  const body = parse(route.body, request.body ?? undefined, '/body')
  if (flaws.length > 0) {
    const [first] = flaws as [Flaw]
    const rest = flaws.length > 1 ? ` (and ${flaws.length - 1} more)` : ''
    throw new Problem('invalid', `${first.pointer}: ${first.message}${rest}`, { errors: flaws.slice(0, MOST_FLAWS) })
  }
  return { params, query, body }
}

function refuseUnknown(query: object): void {
  const [name] = Object.keys(query)
  if (name !== undefined) {
    const flaw = { pointer: `/query/${escaped(name)}`, message: `Unrecognized parameter: "${name}"` }
    throw new Problem('invalid', `${flaw.pointer}: ${flaw.message}`, { errors: [flaw] })
  }
}

const escaped = (part: PropertyKey) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')

function toFlaws(issue: z.core.$ZodIssue, where: string): Flaw[] {
  const pointer = [where, ...issue.path.map(escaped)].join('/')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: `${pointer}/${escaped(key)}`, message: `Unrecognized key: "${key}"` }))
  }
  return [{ pointer, message: issue.message }]
}
