import { PermanentError } from './work-error.ts'

/** JSON text that PostgreSQL cannot hold: U+0000 and halves of surrogate pairs, which JSON.stringify writes as escapes. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** Whether a JSON text holds a character that the database cannot store. */
export function isStorable(json: string): boolean {
  return !json.includes('\\u') || !UNSTORABLE.test(json)
}

/** The JSON of a worker's result; null where there is none. Throws `PermanentError` for what cannot be kept. */
export function toOutput(result: unknown): string | null {
  if (result === undefined) return null
  const json = JSON.stringify(result) as string | undefined
  if (json === undefined) return null
  if (isStorable(json)) return json
  throw new PermanentError('the result contains a character that cannot be stored (U+0000 or half a surrogate pair)')
}
