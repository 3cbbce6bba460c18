import { folded } from './index-words.ts'

const LENGTH = 200 // characters: a line in a terminal or two
const BEFORE = 60

/** A place in a file where a search found something. */
export type Snippet = { readonly line: number; readonly text: string }

/** The first line with one of the words (`word*` is the beginning of one); null when none has: they are in the path. */
export function snippetOf(text: string, words: ReadonlySet<string>): Snippet | null {
  const patterns = [...words].map((word) =>
    word.endsWith('*') ? word.slice(0, -1) : `${word}(?![\\p{L}\\p{N}\\p{M}])`,
  )
  const wanted = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])(?:${patterns.join('|')})`, 'u')
  let line = 0
  for (const content of text.split(/\r\n|\n|\r/)) {
    line += 1
    const at = folded(content).search(wanted)
    if (at >= 0) return { line, text: cutOut(content, at) }
  }
  return null
}

/** Part of a long line, with the place in it. Folding may move the place a little, which does not matter here. */
function cutOut(line: string, at: number): string {
  if (line.length <= LENGTH) return line.trim()
  const from = Math.max(0, Math.min(at - BEFORE, line.length - LENGTH))
  const piece = line.slice(from, from + LENGTH)
  // Half a letter at either end would be no text.
  return piece
    .replace(/^[\udc00-\udfff]/, '')
    .replace(/[\ud800-\udbff]$/, '')
    .trim()
}
