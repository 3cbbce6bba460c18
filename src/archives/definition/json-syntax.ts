export type SyntaxProblem = { readonly at: number; readonly message: string }

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y

/**
 * The first place where the text departs from JSON, or undefined. The parser that reads all workflow files takes YAML,
 * and would let a comma too many pass that every other reader of a `.json` file stumbles over.
 */
export function findJsonProblem(text: string): SyntaxProblem | undefined {
  const open: ('{' | '[')[] = []
  let at = skip(SPACE, text, 0)
  let wants: 'value' | 'key' | 'after' = 'value'
  let mayClose = false
  while (true) {
    const letter = text[at]
    if (wants === 'after') {
      if (open.length === 0) return letter === undefined ? undefined : problem(text, at, 'the end of the file')
      const isMap = open.at(-1) === '{'
      if (letter === ',') wants = isMap ? 'key' : 'value'
      else if (letter === (isMap ? '}' : ']')) open.pop()
      else return problem(text, at, isMap ? 'a comma or }' : 'a comma or ]')
      mayClose = false
      at += 1
    } else if (mayClose && letter === (open.at(-1) === '{' ? '}' : ']')) {
      open.pop()
      wants = 'after'
      mayClose = false
      at += 1
    } else if (wants === 'key') {
      const end = endOfString(text, at)
      if (typeof end !== 'number') return end ?? problem(text, at, 'a key in double quotes')
      at = skip(SPACE, text, end)
      if (text[at] !== ':') return problem(text, at, 'a colon')
      wants = 'value'
      mayClose = false
      at += 1
    } else if (letter === '{' || letter === '[') {
      open.push(letter)
      wants = letter === '{' ? 'key' : 'value'
      mayClose = true
      at += 1
    } else {
      const end = endOfScalar(text, at)
      if (typeof end !== 'number') return end
      wants = 'after'
      at = end
    }
    at = skip(SPACE, text, at)
  }
}

function endOfScalar(text: string, at: number): number | SyntaxProblem {
  const string = endOfString(text, at)
  if (string !== undefined) return string
  const end = Math.max(skip(NUMBER, text, at), skip(WORD, text, at))
  return end > at ? end : problem(text, at, 'a value')
}

/** Where the string that begins here ends; undefined when none begins here. */
function endOfString(text: string, start: number): number | SyntaxProblem | undefined {
  if (text[start] !== '"') return undefined
  for (let at = start + 1; at < text.length; at += 1) {
    const letter = text[at] as string
    if (letter === '"') return at + 1
    if (letter < ' ') return { at, message: 'a line break or tab in a string must be written as \\n or \\t' }
    if (letter !== '\\') continue
    const isHex = text[at + 1] === 'u'
    const isEscape = isHex
      ? /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))
      : /^["\\/bfnrt]$/.test(text[at + 1] ?? '')
    if (!isEscape) return { at, message: 'JSON has no such escape' }
    at += isHex ? 5 : 1
  }
  return { at: start, message: 'the string is not closed' }
}

/** Where the pattern ends that begins at `at`; `at` itself when it does not. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function problem(text: string, at: number, expected: string): SyntaxProblem {
  const isAfterComma = /[}\]]/.test(text[at] ?? '') && text.slice(0, at).trimEnd().endsWith(',')
  if (isAfterComma) return { at, message: `the comma before ${text[at]} is one too many` }
  const found = at >= text.length ? 'the end of the file' : JSON.stringify(text.slice(at, at + 1))
  return { at, message: `expected ${expected}, not ${found}` }
}
