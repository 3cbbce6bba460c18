// Numbers in JSON that reading would alter. `JSON.parse` rounds integers beyond 2^53 and makes Infinity of 1e400, which is
// written as null: data that is kept as it was given must not change on the way.
const NUMBER = /-?\d[\d.eE+-]*/y
const BACKSLASH = 92
const QUOTE = 34

/**
 * The first number of the text that reading would alter, and where it is; undefined when there is none. Integers beyond
 * ±(2^53 - 1) count, and numbers that become infinite; a fraction is rounded to the nearest double as in every reader.
 * Expects valid JSON.
 */
export function findInexact(json: string): { readonly pointer: string; readonly message: string } | undefined {
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfText(json, at)
    else if (code === 45 || (code >= 48 && code <= 57)) {
      const token = numberAt(json, at)
      if (!isKept(token)) {
        const shown = token.length > 40 ? `${token.slice(0, 40)}…` : token
        return { pointer: pointerTo(json, at), message: `${shown} would be altered; send it as a string` }
      }
      at += token.length - 1
    }
  }
  return undefined
}

/** Where the closing quote of the text is that begins at `start`. */
function endOfText(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}

function numberAt(json: string, at: number): string {
  NUMBER.lastIndex = at
  return NUMBER.exec(json)?.[0] ?? json.charAt(at)
}

function isKept(token: string): boolean {
  const value = Number(token)
  return /[.eE]/.test(token) ? Number.isFinite(value) : Number.isSafeInteger(value)
}

/** The JSON pointer of the value that begins at `end`. */
function pointerTo(json: string, end: number): string {
  const path: (string | number)[] = []
  let text = ''
  for (let at = 0; at < end; at += 1) {
    const character = json[at]
    if (character === '"') {
      const last = endOfText(json, at)
      text = json.slice(at, last + 1)
      at = last
    } else if (character === '[') path.push(0)
    else if (character === '{') path.push('')
    else if (character === ']' || character === '}') path.pop()
    else if (character === ':') path[path.length - 1] = JSON.parse(text) as string
    else if (character === ',' && typeof path.at(-1) === 'number') path[path.length - 1] = Number(path.at(-1)) + 1
  }
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
