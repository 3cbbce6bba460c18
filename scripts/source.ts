import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below `folder`, sorted, as paths that begin with it. Folders named in `except` are left out. */
export function filesUnder(folder: string, except: readonly string[] = []): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !except.includes(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesUnder(path, except)
      return entry.isFile() ? [path] : []
    })
    .sort()
}

export type Source = {
  /** The text with comments, and the insides of strings, replaced by spaces. */
  readonly code: string
  /** The insides of the string and template literals, with their places in the text. */
  readonly strings: readonly { readonly at: number; readonly text: string }[]
}

// A slash after one of these begins a regular expression; after anything else it divides.
const BEFORE_REGEX = /(^|[(,=:[!&|?{};+\-*%~^<>]|\b(return|typeof|case|in|of|await|yield|else|do))\s*$/

const LITERAL = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/(?![/*])/g
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//y

/**
 * Separates TypeScript source into code, strings and comments, well enough for checks that look for words.
 * A template inside a hole of a template ends the outer one early; the rules of this repository never need it.
 */
export function readSource(text: string): Source {
  const strings: { at: number; text: string }[] = []
  let code = ''
  let last = 0
  LITERAL.lastIndex = 0
  for (let match = LITERAL.exec(text); match !== null; match = LITERAL.exec(text)) {
    let found = match[0]
    const before = code + text.slice(last, match.index)
    if (found === '/') {
      REGEX.lastIndex = match.index
      const regex = BEFORE_REGEX.test(before.slice(-80)) ? REGEX.exec(text) : null
      if (regex === null) continue
      found = regex[0]
    }
    code = before + blank(found)
    if (/^['"`]/.test(found)) strings.push({ at: match.index, text: found.slice(1, -1) })
    last = match.index + found.length
    LITERAL.lastIndex = last
  }
  return { code: code + text.slice(last), strings }
}

function blank(found: string): string {
  const inside = found.replace(/[^\n]/g, ' ')
  return /^['"`]/.test(found) ? found[0] + inside.slice(1, -1) + found[0] : inside
}

/** The line number of a place in a text, from 1. */
export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
