// What of a file is text, and which words are in it. Words are made here and not by the database, whose letters depend
// on the language it was set up with.

export const TEXT_BYTES = 256 * 1024 // of each file; the words of more than twice that would not fit into one value
const LONGEST = 100 // letters; what is longer is no word that anybody looks for
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** The text of a file that begins with these bytes; undefined when it is none. */
export function textOf(head: Buffer): string | undefined {
  const text = decode(head)
  return isWritten(text) ? text : undefined
}

/** Whether there is nothing in it that no text has but nearly every other file. */
function isWritten(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    // Below the letters lie tabs, ends of lines and pages, the escapes of terminals, and what is not text.
    if (code < 32 && (code < 9 || code > 13) && code !== 27) return false
  }
  return true
}

function decode(head: Buffer): string {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder('utf-16le').decode(head)
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder('utf-16be').decode(head)
  try {
    // The last letter may be cut in two: as part of a stream it is waited for, and no mistake.
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
  } catch {
    // Every byte is a letter there. What is no text has bytes that mean none.
    return new TextDecoder('windows-1252').decode(head)
  }
}

/** As words are compared: whichever way letters are written or composed. */
export const folded = (text: string) => text.normalize('NFKC').toLowerCase().normalize('NFKC')

/** The words of a text, each once. */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>()
  for (const [word] of folded(text).matchAll(WORD)) {
    if (word.length <= LONGEST) words.add(word)
  }
  return words
}
