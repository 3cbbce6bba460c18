// Shapes that several resources share.
import { z } from 'zod'

const MOST = 2n ** 63n - 1n

/** A 64-bit number as a string: JSON's numbers would alter it. */
export const id = z
  .string()
  .regex(/^[1-9]\d{0,18}$/, { message: 'must be a number of at most 19 digits, as a string', abort: true })
  .refine((text) => BigInt(text) <= MOST, { message: `must be at most ${MOST}` })

/** The id of the last thing that was seen: 0 stands for none yet. */
export const idOrZero = (message: string) =>
  z
    .string()
    .regex(/^\d{1,19}$/, { message, abort: true })
    .refine((text) => BigInt(text) <= MOST, { message: `must be at most ${MOST}` })

/**
 * A JSON object with any values, kept as it was given. A `z.record` drops the key `__proto__` without a word, and copies
 * the rest.
 */
export const verbatim = <T = unknown>(
  key: z.ZodType<string, string>,
  value: z.ZodType<T> = z.unknown() as z.ZodType<T>,
) =>
  z
    .custom<Record<string, T>>(
      (given) => typeof given === 'object' && given !== null && !Array.isArray(given),
      'Invalid input: expected object',
    )
    .superRefine((given, context) => {
      for (const [name, one] of Object.entries(given)) {
        for (const parsed of [key.safeParse(name), value.safeParse(one)])
          for (const { message } of parsed.error?.issues ?? [])
            context.addIssue({ code: 'custom', message, path: [name] })
      }
    })
    .meta({ type: 'object', additionalProperties: z.toJSONSchema(value, { unrepresentable: 'any' }) })

export const time = z.iso.datetime({ offset: true })

const HALF_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** A text that PostgreSQL can store. */
export const storable = (text: z.ZodString) =>
  text.refine((value) => !value.includes('\u0000') && !HALF_PAIR.test(value), {
    message: 'contains a character that cannot be stored (U+0000 or half a surrogate pair)',
  })

export const limit = (most: number, byDefault: number) =>
  z.coerce.number().int().min(1).max(most).default(byDefault).describe(`how many at most (${most} at the most)`)

export const cursor = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[\w-]+$/, 'is not a cursor that this server gave')
  .describe('the next_cursor of the page before; tied to the same filters')

/** A page of a list. The cursor is null on the last one. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() })

/** `a,b,c` as a list. */
export const commaList = (what: string, most: number) =>
  z
    .string()
    .min(1)
    .max(20 * most)
    .transform((text) => [...new Set(text.split(','))])
    .refine((list) => list.length <= most, { message: `names more than ${most}` })
    .describe(`${what}, separated by commas`)

/** What every error is answered as, under `application/problem+json` (RFC 9457). */
export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().describe('stable; programs decide by it'),
    detail: z.string(),
    remedy: z.string().optional().describe('what to do about it'),
    errors: z
      .array(z.object({ pointer: z.string(), message: z.string() }))
      .optional()
      .describe('each thing that is wrong with the request, and where'),
    request_id: z.string(),
  })
  .meta({ id: 'Problem' })
export type Problem = z.output<typeof problem>
