// One route is one value: what it takes, what it answers and who may call it. The server registers it, the OpenAPI
// document is made from it, the client calls it: none of them can say something else than the others.
import type { z } from 'zod'

/** In rising order: each may do all that those before it may. */
export const roles = ['viewer', 'submitter', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

/**
 * Who may call a route: everybody, or a token or session of at least this role. A token that is limited to one archive
 * or node has no role; it may call the routes that name its limit, which look themselves at what it asks for.
 */
export type Access = { readonly role: Role | 'anyone'; readonly limits?: readonly ('archive' | 'node' | 'task')[] }

type Schema = z.ZodType
type ObjectSchema = z.ZodObject

/** What an answer's body is when it is not JSON of a schema. */
export type Media = 'empty' | 'text/plain' | 'text/event-stream' | 'application/octet-stream' | 'application/json'

/** With two, the caller's Accept header decides. */
export type Answer = Schema | Media | readonly [Schema, Media]

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As OpenAPI writes it: `/v1/tasks/{id}`. */
  readonly path: string
  /** The verb's name on every floor: `tasks.cancel`. Also the action's name in the audit. */
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  readonly params?: ObjectSchema
  readonly query?: ObjectSchema
  readonly body?: Schema
  /** Largest body in bytes, where the general limit does not fit. */
  readonly bodyLimit?: number
  readonly answers: { readonly [status: number]: Answer }
  /** It changes nothing, though it is no GET: it is not recorded in the audit. */
  readonly isReading?: boolean
  /** It creates: an `Idempotency-Key` makes a repetition harmless. */
  readonly isCreating?: boolean
  /**
   * It has versions. A GET answers an ETag; an edit with it in `If-Match` refuses to overwrite what another has changed,
   * and is refused without it where that is required.
   */
  readonly isVersioned?: boolean | 'required'
}

/** Keeps the literal types of a route, from which those of handler and client follow. */
export function route<const R extends Route>(definition: R): R {
  return definition
}

type Of<S> = S extends Schema ? z.output<S> : undefined
type InputOf<S> = S extends Schema ? z.input<S> : undefined

export type ParamsOf<R extends Route> = Of<R['params']>
export type QueryOf<R extends Route> = Of<R['query']>
export type BodyOf<R extends Route> = Of<R['body']>

type AnswerOf<A> = A extends readonly [infer S, Media]
  ? AnswerOf<S>
  : A extends Schema
    ? z.input<A>
    : A extends 'empty'
      ? undefined
      : A extends 'text/plain'
        ? string
        : unknown

type Good = 200 | 201 | 202 | 204
/** The bodies of its good answers. */
export type BodyAnswered<R extends Route> = {
  [S in keyof R['answers'] & Good]: AnswerOf<R['answers'][S]>
}[keyof R['answers'] & Good]

type Needed<K extends string, S> = S extends Schema
  ? Record<never, never> extends InputOf<S>
    ? { readonly [key in K]?: InputOf<S> }
    : { readonly [key in K]: InputOf<S> }
  : { readonly [key in K]?: undefined }

/** What a client gives. */
export type Asked<R extends Route> = Needed<'params', R['params']> &
  Needed<'query', R['query']> &
  Needed<'body', R['body']>
