// Values out of JSON schemas: such as the schema asks for, and such as an enemy would send.
import fc from 'fast-check'

export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  prefixItems?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  propertyNames?: Schema
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  minItems?: number
  maxItems?: number
}

/**
 * What earlier answers held, by resource and name (`tasks.id`): ids, keys and cursors that exist lead deeper than those
 * that do not.
 */
export type Seen = ReadonlyMap<string, readonly unknown[]>

/** What is run by a shell or as a program stays harmless, whatever else is wild. */
const HARMLESS: Readonly<Record<string, readonly unknown[]>> = {
  command: ['true', ['true'], '', 7, null, {}],
  script: ['true', '', 7, null],
  args: [[], ['--version'], 'x', [7], null],
  shell: ['bash', '', 7],
  cwd: ['.', '', 7, null],
  env: [{}, { A: 'b' }, { A: 7 }, [], null],
  image: ['', 7, null],
  mounts: [[], '', 7],
}

const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)])

const hostile: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  -0.5,
  1.5,
  1e308,
  2 ** 31,
  2 ** 53 + 2,
  -(2 ** 63),
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  '007',
  '9223372036854775807',
  '9223372036854775808',
  '9'.repeat(19),
  '9'.repeat(400),
  'x'.repeat(10_000),
  'é'.repeat(5000),
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfffy',
  '\u202e\u200b\ufeff',
  '𝕏👩‍👩‍👧‍👦',
  '../../etc/passwd',
  '..\\..\\x',
  '%00',
  '%2e%2e%2f',
  "' or 1=1 --",
  '$1',
  '{{7*7}}',
  '\u0024{x}',
  '<script>alert(1)</script>',
  'a\r\nSet-Cookie: a=b',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59+23:59',
  '*',
  '%',
  '_',
  'a,b,,c',
  'root',
  '#0',
  '#99999999999999999999',
  '__proto__',
  'constructor',
  [],
  {},
  [[]],
  [null],
  { a: { b: { c: null } } },
  { constructor: 1 },
  { toString: 1, valueOf: 'x', hasOwnProperty: null },
  Array.from({ length: 2000 }, (_, i) => i),
  Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])),
  nested(150),
]

const anyHostile = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 50 }), fc.jsonValue())

export type Making = { readonly root: Record<string, unknown>; readonly seen: Seen; readonly resource: string }

/** Mostly what the schema asks for; now and then, anywhere in it, something else. */
export function fromSchema(making: Making, schema: Schema, name = ''): fc.Arbitrary<unknown> {
  const harmless = Object.hasOwn(HARMLESS, name) ? HARMLESS[name] : undefined
  if (harmless !== undefined) return fc.constantFrom(...harmless)
  const known = knownAs(making, name)
  return fc.oneof(
    { weight: 12, arbitrary: asAsked(making, schema) },
    { weight: 2, arbitrary: fc.constantFrom(...edgesOf(making, schema)) },
    { weight: 1, arbitrary: anyHostile },
    ...(known.length > 0 ? [{ weight: 12, arbitrary: fc.constantFrom(...known) }] : []),
  )
}

/** What is known under a name: of the same resource, or else of any. */
export function knownAs({ seen, resource }: Making, name: string): readonly unknown[] {
  return seen.get(`${resource}.${name}`) ?? seen.get(`.${name}`) ?? []
}

/** The value with one thing in it changed, left out or added. */
export function altered(value: unknown, name = ''): fc.Arbitrary<unknown> {
  const harmless = Object.hasOwn(HARMLESS, name) ? HARMLESS[name] : undefined
  if (harmless !== undefined) return fc.constantFrom(...harmless)
  if (typeof value !== 'object' || value === null) return anyHostile
  if (Array.isArray(value)) {
    const places = value.map((item, i) => altered(item, name).map((changed) => value.with(i, changed)))
    return fc.oneof(anyHostile, fc.constant([...value, ...value]), fc.constant([]), ...places)
  }
  const fields = Object.entries(value).flatMap(([key, inner]) => [
    altered(inner, key).map((changed) => ({ ...value, [key]: changed })),
    fc.constant(Object.fromEntries(Object.entries(value).filter(([other]) => other !== key))),
  ])
  return fc.oneof(fc.constant({ ...value, extra: 1 }), ...fields)
}

/** Where what is allowed ends and what can be stored does not: most mistakes are made there. */
export function edgesOf(making: Making, schema: Schema): readonly unknown[] {
  if (schema.$ref !== undefined) return edgesOf(making, resolve(making.root, schema.$ref))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.flatMap((choice) => edgesOf(making, choice))
  const [type] = [schema.type].flat()
  if (type === 'integer' || type === 'number') {
    const { minimum = 0, maximum = 2 ** 31 } = schema
    return [minimum - 1, minimum, maximum, maximum + 1, -1, 2 ** 31, 2 ** 53, 2 ** 63, '1e3', '0x10', ' 1', '١']
  }
  if (schema.pattern?.includes('\\d')) {
    return ['0', '9223372036854775807', '9223372036854775808', '9'.repeat(19), '-1', '1.0']
  }
  if (schema.format === 'date-time')
    return ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59+23:59', '2020-02-30T00:00:00Z']
  if (type === 'string') {
    const tooLong = 'x'.repeat((schema.maxLength ?? 999) + 1)
    return ['', '\u0000', 'a\u0000', '\ud800', tooLong, '/', '%', '\\']
  }
  return [null, [], {}, '']
}

function asAsked(making: Making, schema: Schema): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return asAsked(making, resolve(making.root, schema.$ref))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => fromSchema(making, choice)))
  if (schema.allOf !== undefined) return asAsked(making, Object.assign({}, ...schema.allOf) as Schema)
  const [type] = [schema.type].flat()
  if (type === 'string') return text(schema)
  if (type === 'integer') return fc.integer(bounds(schema))
  if (type === 'number') return fc.double({ ...bounds(schema), noNaN: true })
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'array') return list(making, schema)
  if (type === 'object') return object(making, schema)
  return anyHostile
}

function resolve(root: Record<string, unknown>, reference: string): Schema {
  const parts = reference.replace(/^#\//, '').split('/')
  return parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], root) as Schema
}

const bounds = (schema: Schema) => ({
  min: Math.max(schema.minimum ?? schema.exclusiveMinimum ?? -1000, -(2 ** 31)),
  max: Math.min(schema.maximum ?? schema.exclusiveMaximum ?? 1000, 2 ** 31 - 1),
})

function text({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') {
    return fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map((at) => at.toISOString())
  }
  if (pattern !== undefined) {
    try {
      return fc.stringMatching(new RegExp(pattern, 'u'))
    } catch {
      // A pattern that the generator cannot follow; letters often fit.
      return fc.stringMatching(/^[a-z]{1,20}$/)
    }
  }
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)), unit: 'grapheme' })
}

function list(making: Making, { items = {}, prefixItems, minItems = 0, maxItems = 5 }: Schema): fc.Arbitrary<unknown> {
  if (prefixItems !== undefined) return fc.tuple(...prefixItems.map((item) => fromSchema(making, item)))
  return fc.array(fromSchema(making, items), {
    minLength: minItems,
    maxLength: Math.max(minItems, Math.min(maxItems, 5)),
  })
}

function object(making: Making, schema: Schema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const fields = Object.entries(properties).map(([name, property]) => {
    const value = fromSchema(making, property, name)
    // What is required is there nearly always.
    const isThere = fc.nat({ max: 19 }).map((n) => (required.includes(name) ? n > 0 : n > 9))
    return fc.tuple(fc.constant(name), isThere, value)
  })
  const more = fc.dictionary(
    fc.oneof(fc.constantFrom('extra', 'toString', 'constructor', '', 'a/b~c'), fc.string({ maxLength: 10 })),
    typeof additionalProperties === 'object' ? fromSchema(making, additionalProperties) : anyHostile,
    { maxKeys: 2, noNullPrototype: true },
  )
  const isMore = fc.nat({ max: typeof additionalProperties === 'object' ? 1 : 9 }).map((n) => n === 0)
  return fc.tuple(fc.tuple(...fields), isMore, more).map(([own, withMore, others]) => ({
    ...(withMore ? others : {}),
    ...Object.fromEntries(own.flatMap(([name, isThere, value]) => (isThere ? [[name, value]] : []))),
  }))
}
