export type CommandWords = {
  readonly words: readonly string[]
  /** Where a quote begins that does not end. */
  readonly openQuote?: number
  /** The first sign that means something to a shell and nothing here. */
  readonly shellSign?: { readonly sign: string; readonly at: number }
}

/**
 * A command written as text, split at spaces into program and arguments. Quotes and backslashes keep spaces as a shell
 * does; nothing else of a shell holds: no variables, no patterns, no pipes.
 */
export function splitCommand(text: string): CommandWords {
  const words: string[] = []
  let word: string | undefined
  let shellSign: { sign: string; at: number } | undefined
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string
    if (letter === "'" || letter === '"') {
      const quoted = readQuoted(text, at)
      if (quoted === undefined) return { words, openQuote: at }
      shellSign ??= quoted.shellSign
      word = (word ?? '') + quoted.content
      at = quoted.end
    } else if (letter === '\\' && at + 1 < text.length) {
      word = (word ?? '') + text[at + 1]
      at += 1
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else {
      if (isShellSign(text, at, word)) shellSign ??= { sign: letter, at }
      word = (word ?? '') + letter
    }
  }
  if (word !== undefined) words.push(word)
  return shellSign ? { words, shellSign } : { words }
}

type Quoted = { content: string; end: number; shellSign: { sign: string; at: number } | undefined }

function readQuoted(text: string, start: number): Quoted | undefined {
  const quote = text[start]
  let content = ''
  let shellSign: Quoted['shellSign']
  for (let at = start + 1; at < text.length; at += 1) {
    const letter = text[at] as string
    if (letter === quote) return { content, end: at, shellSign }
    if (quote === '"' && letter === '\\' && /["\\$`]/.test(text[at + 1] ?? '')) {
      content += text[at + 1]
      at += 1
      continue
    }
    if (quote === '"' && isExpansion(text, at)) shellSign ??= { sign: letter, at }
    content += letter
  }
  return undefined
}

/** Signs that also stand in ordinary arguments, such as addresses, count only where a shell would most likely be meant. */
function isShellSign(text: string, at: number, word: string | undefined): boolean {
  const [letter, next = ' '] = [text[at] as string, text[at + 1]]
  if (letter === '~') return word === undefined && /[/\s]/.test(next)
  if (letter === '&') return next === '&' || (word === undefined && /\s/.test(next))
  if (letter === ';') return /\s/.test(next)
  return /[|<>*]/.test(letter) || isExpansion(text, at)
}

/** `$NAME`, `${…}`, `$(…)` and backquotes, which a shell replaces even in double quotes. */
function isExpansion(text: string, at: number): boolean {
  return text[at] === '`' || (text[at] === '$' && /[A-Za-z_{(]/.test(text[at + 1] ?? ''))
}
