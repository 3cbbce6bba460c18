// Payload schemas are anything that speaks Standard Schema (zod, valibot, arktype …), so that the engine does not
// bind its users to one library. This is the part of that interface it needs.
import { InvalidPayload } from './errors.ts'

type Issue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type Schema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly Issue[] }
      | Promise<unknown>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input']
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output']

/** The value as the schema gives it. Throws `InvalidPayload`, naming every place that does not fit. */
export function parse(schema: Schema, value: unknown, kind: string, where = ''): unknown {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) throw new TypeError(`the payload schema of kind "${kind}" must validate synchronously`)
  if (result.issues === undefined) return (result as { value: unknown }).value
  throw new InvalidPayload(kind, where, result.issues.map(describe))
}

function describe(issue: Issue): { path: string; message: string } {
  const keys = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  return { path: keys.join('.'), message: issue.message }
}
