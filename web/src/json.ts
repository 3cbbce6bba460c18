// JSON as it was written. `JSON.parse` turns 12345678901234567890 into another number; this keeps every number's digits.

export type Json =
  | { readonly is: 'object'; readonly members: readonly (readonly [string, Json])[] }
  | { readonly is: 'array'; readonly items: readonly Json[] }
  | { readonly is: 'string'; readonly value: string }
  /** A number, true, false or null, as it stands in the text. */
  | { readonly is: 'literal'; readonly text: string }

const TOKEN = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+)/y

/** Reads a text that is known to be JSON. Throws `SyntaxError` for one that is not. */
export function readJson(text: string): Json {
  let at = 0
  const next = (): string => {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)?.[1]
    if (token === undefined) throw new SyntaxError(`no JSON at ${at}`)
    at = TOKEN.lastIndex
    return token
  }
  const value = (token: string): Json => {
    if (token === '{') return { is: 'object', members: list('}', member) }
    if (token === '[') return { is: 'array', items: list(']', value) }
    if (token.startsWith('"')) return { is: 'string', value: JSON.parse(token) }
    return { is: 'literal', text: token }
  }
  const member = (key: string): [string, Json] => {
    next() // the colon
    return [JSON.parse(key), value(next())]
  }
  const list = <T>(end: string, read: (token: string) => T): T[] => {
    const found: T[] = []
    for (let token = next(); token !== end; token = next()) found.push(read(token === ',' ? next() : token))
    return found
  }
  return value(next())
}

/** What lies below a path of names: `memberOf(task, 'payload')`. */
export function memberOf(json: Json, ...path: readonly string[]): Json | undefined {
  let here: Json | undefined = json
  for (const name of path) here = here?.is === 'object' ? here.members.find(([key]) => key === name)?.[1] : undefined
  return here
}

/** The text again, indented. */
export function writeJson(json: Json, indent = ''): string {
  const deeper = `${indent}  `
  if (json.is === 'string') return JSON.stringify(json.value)
  if (json.is === 'literal') return json.text
  const [start, end] = json.is === 'object' ? ['{', '}'] : ['[', ']']
  const lines =
    json.is === 'object'
      ? json.members.map(([key, value]) => `${JSON.stringify(key)}: ${writeJson(value, deeper)}`)
      : json.items.map((item) => writeJson(item, deeper))
  if (lines.length === 0) return `${start}${end}`
  return `${start}\n${lines.map((line) => deeper + line).join(',\n')}\n${indent}${end}`
}
