// The values of a node as they are edited: whole, as JSON.
import { memberOf, readJson, writeJson } from '../../json.ts'

/** As much of a text as one answer holds. */
export const MOST_BYTES = 1_048_576

/** The text to edit, by the answer of the server. Throws `Error` when that is only the beginning of the value. */
export function toEdit(id: string, key: string, answer: string): string {
  const json = readJson(answer)
  if (memberOf(json, 'pagination') !== undefined)
    throw new Error(
      `${key} is longer than 1 MiB, and saving its beginning here would cut off the rest. Use \`millrace node get ${id} ${key}\` and \`millrace node set ${id} ${key}\` instead.`,
    )
  const value = memberOf(json, 'data')
  return value === undefined ? '' : writeJson(value)
}
