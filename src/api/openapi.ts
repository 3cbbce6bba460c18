// The OpenAPI document, made from the routes. The schemas are written by zod; here they are only put in their places.
import { z } from 'zod'
import type { Answer, Route } from './route.ts'
import { problem } from './shapes.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of the given routes. */
export function toOpenApi(routes: readonly Route[], version: string): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version,
      description: 'Runs the work that follows when something arrives at a repository.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { session: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'millrace_session' },
      },
    },
  }
}

function toOperation(route: Route, schemas: Json): Json {
  const needs = route.access.role === 'anyone' ? 'No token is needed.' : `Needs the role ${route.access.role}.`
  return {
    operationId: route.name,
    tags: [route.name.split('.')[0]],
    summary: route.summary,
    description: [route.description, needs].filter(Boolean).join('\n\n'),
    ...(route.access.role === 'anyone' ? { security: [] } : {}),
    parameters: [
      ...toParameters('path', route.params, schemas),
      ...toParameters('query', route.query, schemas),
      ...(route.isCreating
        ? [header('Idempotency-Key', 'the same key again within 24 hours gives the first answer again')]
        : []),
      ...toVersionHeader(route),
    ],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: !route.body.safeParse(undefined).success,
            content: { 'application/json': { schema: toSchema(route.body, 'input', schemas) } },
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, toResponse(Number(status), answer, schemas)]),
      ),
      ...(route.isVersioned && route.method === 'GET' ? { 304: toResponse(304, 'empty', schemas) } : {}),
      default: {
        description: 'A problem (RFC 9457); `code` says which',
        content: { 'application/problem+json': { schema: toSchema(problem, 'output', schemas) } },
      },
    },
  }
}

const titles: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Taken',
  204: 'Done, with nothing to say',
  206: 'The part that was asked for',
  304: 'Not changed',
}

function toResponse(status: number, answer: Answer, schemas: Json): Json {
  const description = titles[status] ?? 'An answer'
  return answer === 'empty' ? { description } : { description, content: toContent(answer, schemas) }
}

/** Not by a property: schemas have many. */
const isBoth = (answer: Answer): answer is Extract<Answer, readonly unknown[]> => Array.isArray(answer)

function toContent(answer: Answer, schemas: Json): Json {
  if (answer === 'application/json') return { 'application/json': { schema: {} } }
  if (typeof answer === 'string') return { [answer]: { schema: { type: 'string' } } }
  if (isBoth(answer)) return { ...toContent(answer[0], schemas), ...toContent(answer[1], schemas) }
  return { 'application/json': { schema: toSchema(answer, 'output', schemas) } }
}

function toVersionHeader({ isVersioned, method }: Route): Json[] {
  if (!isVersioned) return []
  if (method === 'GET') return [header('If-None-Match', 'the ETag that is known; the same version is answered 304')]
  return [header('If-Match', 'the ETag that was read; another version is refused with 412', isVersioned === 'required')]
}

const header = (name: string, description: string, required = false): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

function toParameters(where: 'path' | 'query', of: z.ZodObject | undefined, schemas: Json): Json[] {
  if (of === undefined) return []
  const { properties = {}, required = [] } = toSchema(of, 'input', schemas) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }))
}

/** The JSON schema; named parts are collected in `schemas` and referred to there. */
function toSchema(of: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    id,
    ...schema
  } = z.toJSONSchema(of, { io, unrepresentable: 'any' }) as Json & {
    $defs?: Json
    id?: string
  }
  const at = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(at)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
        if (key === 'id' && typeof inner === 'string' && inner in schemas) return []
        return [
          [
            key,
            key === '$ref' && typeof inner === 'string'
              ? inner.replace('#/$defs/', '#/components/schemas/')
              : at(inner),
          ],
        ]
      }),
    )
  }
  for (const [name, definition] of Object.entries($defs)) {
    const { id: __, ...rest } = definition as Json
    schemas[name] ??= at(rest)
  }
  if (id === undefined) return at(schema) as Json
  schemas[id] ??= at(schema)
  return { $ref: `#/components/schemas/${id}` }
}
