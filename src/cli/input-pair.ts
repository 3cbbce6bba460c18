import { UsageError } from './exit.ts'

/** `NAME=VALUE` of an input. */
export function toInput(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--input ${text} has no value`, 'write NAME=VALUE')
  if (text[at - 1] === ':') {
    throw new UsageError(`--input ${text} gives JSON, and inputs are texts`, `write ${text.replace(':=', '=')}`)
  }
  return [text.slice(0, at), text.slice(at + 1)]
}
