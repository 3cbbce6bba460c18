// Requests for every operation of an OpenAPI document.
import fc from 'fast-check'
import { examples } from './examples.ts'
import { altered, edgesOf, fromSchema, knownAs, type Making, type Schema, type Seen } from './from-schema.ts'

export type Operation = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly body: Schema | undefined
}

type Written = {
  operationId: string
  parameters?: Operation['parameters']
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export type Document = { readonly paths: Record<string, Record<string, Written>> }

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      name: operation.operationId,
      method: verb.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json']?.schema,
    })),
  )
}

export type Fuzzed = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** A request for the operation: near to what it asks for, with something wrong in it now and then. */
export function requestFor(document: Document, operation: Operation, seen: Seen): fc.Arbitrary<Fuzzed> {
  const making = makingFor(document, operation, seen)
  const parameters = operation.parameters.filter((parameter) => parameter.in !== 'header')
  const given = parameters.map((parameter) =>
    fc.record({
      parameter: fc.constant(parameter),
      value: fromSchema(making, parameter.schema, parameter.name),
      isThere: fc.nat({ max: 19 }).map((n) => (parameter.required ? n > 0 : n > 12)),
      isDoubled: fc.nat({ max: 19 }).map((n) => n === 0),
    }),
  )
  return fc
    .record({
      given: fc.tuple(...given),
      odd: seldom(['&extra=1', '&__proto__=1', '&=', '&%', '&a[b]=1']),
      trick: seldom(['/', '//', '/..', '/.', '%2f', '%00', ';a=b', '%']),
      headers: someHeaders,
      body:
        operation.body === undefined
          ? fc.constant(undefined)
          : bodyOf(making, operation.body, examples[operation.name] ?? []),
    })
    .map((made) => ({
      path: pathOf(operation.path, made.given, made) + queryOf(made.given, made.odd),
      headers: made.headers,
      body: made.body,
    }))
}

function makingFor(document: Document, operation: Operation, seen: Seen): Making {
  return { root: document as unknown as Record<string, unknown>, seen, resource: operation.name.split('.')[0] ?? '' }
}

/** One request for each edge of each parameter and of each field of the body, the rest being as it is asked for. */
export function edgeRequestsFor(document: Document, operation: Operation, seen: Seen, seed: number): Fuzzed[] {
  const making = makingFor(document, operation, seen)
  const one = (schema: Schema, name: string) =>
    knownAs(making, name)[0] ?? fc.sample(fromSchema(making, schema), { numRuns: 1, seed })[0]
  const usual = operation.parameters
    .filter((parameter) => parameter.in === 'path' || (parameter.in === 'query' && parameter.required))
    .map((parameter) => ({ parameter, value: one(parameter.schema, parameter.name), isThere: true, isDoubled: false }))
  const body = operation.body && (examples[operation.name]?.[0] ?? one(operation.body, ''))
  const toRequest = (given: Given[], sent: unknown): Fuzzed => ({
    path: pathOf(operation.path, given, { trick: '' }) + queryOf(given, ''),
    headers: {},
    body: sent === undefined ? undefined : JSON.stringify(sent),
  })
  const ofParameters = operation.parameters
    .filter((parameter) => parameter.in !== 'header')
    .flatMap((parameter) =>
      edgesOf(making, parameter.schema).map((value) => {
        const others = usual.filter((given) => given.parameter !== parameter)
        return toRequest([...others, { parameter, value, isThere: true, isDoubled: false }], body)
      }),
    )
  const fields = Object.entries(operation.body?.properties ?? {})
  const ofFields = fields.flatMap(([name, schema]) =>
    edgesOf(making, schema).map((value) => toRequest(usual, { ...(body as object), [name]: value })),
  )
  return [...ofParameters, ...ofFields]
}

const seldom = (values: string[]) =>
  fc.oneof({ weight: 15, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(...values) })

const someHeaders = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'if-match',
        'if-none-match',
        'prefer',
        'accept',
        'range',
        'last-event-id',
        'content-type',
        'expect',
        'cookie',
        'origin',
        'x-request-id',
      ),
      fc.constantFrom(
        '*',
        '"1"',
        'W/"x"',
        'wait=0',
        'wait=-1',
        'bytes=0-',
        'bytes=9-1',
        'text/html',
        'application/xml',
        'text/plain',
        '-1',
        '99999999999999999999',
        'millrace_session=x; =; ;',
        '\u00ff',
        '',
      ),
      { maxKeys: 3, noNullPrototype: true },
    ),
  },
)

type Given = { parameter: { name: string; in: string }; value: unknown; isThere: boolean; isDoubled: boolean }

/** Half characters have no encoding. */
const encoded = (value: unknown) =>
  encodeURIComponent(Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toString())

function pathOf(path: string, given: Given[], { trick }: { trick: string }): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const found = given.find(({ parameter }) => parameter.in === 'path' && parameter.name === name)
    return found?.isThere ? encoded(found.value).slice(0, 12_000) : ''
  })
  return filled + trick
}

function queryOf(given: Given[], odd: string): string {
  const pairs = given
    .filter(({ parameter, isThere }) => parameter.in === 'query' && isThere)
    .flatMap(({ parameter, value, isDoubled }) => {
      const pair = `${parameter.name}=${encoded(value).slice(0, 12_000)}`
      return isDoubled ? [pair, pair] : [pair]
    })
  const query = pairs.join('&') + odd
  return query === '' ? '' : `?${query.replace(/^&/, '')}`
}

const bodyOf = (making: Making, schema: Schema, good: readonly unknown[]): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { weight: 20, arbitrary: fromSchema(making, schema).map((value) => JSON.stringify(value) ?? '') },
    ...good.flatMap((value) => [
      { weight: 5, arbitrary: fc.constant(JSON.stringify(value)) },
      { weight: 15, arbitrary: altered(value).map((changed) => JSON.stringify(changed) ?? '') },
    ]),
    { weight: 2, arbitrary: fc.constantFrom(...wrongBodies) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )

const wrongBodies = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{"__proto__":1}',
  '['.repeat(5000),
  '\ufeff{}',
  '{"a":1,"a":2}',
  '{"a":1e999}',
]
