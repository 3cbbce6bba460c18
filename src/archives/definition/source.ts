import { type Finding, finding, type Range } from './finding.ts'

/** A file of a revision as it was read from the repository. */
export type FileBytes = { readonly path: string; readonly bytes: Uint8Array }

/** The text of a workflow file, which knows the line and the column of each of its characters. */
export class Source {
  readonly file: string
  readonly text: string
  readonly #lineStarts: number[] = [0]

  constructor(file: string, text: string) {
    this.file = file
    this.text = text
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1)
  }

  /** The range between two offsets; an empty one is widened to the character at its start, if the line has one. */
  range(from: number, to: number): Range & { readonly file: string } {
    const start = this.#place(from)
    const lineEnd = this.#lineStarts[start.line] ?? this.text.length + 1
    const end = this.#place(to > from ? to : Math.min(from + 1, Math.max(lineEnd - 1, from)))
    return { file: this.file, line: start.line, column: start.column, endLine: end.line, endColumn: end.column }
  }

  /** The line without its end; lines count from 1. */
  line(number: number): string | undefined {
    const from = this.#lineStarts[number - 1]
    if (from === undefined) return undefined
    const next = this.#lineStarts[number]
    return this.text.slice(from, next === undefined ? undefined : next - 1).replace(/\r$/, '')
  }

  #place(offset: number): { line: number; column: number } {
    const at = Math.max(0, Math.min(offset, this.text.length))
    let [low, high] = [0, this.#lineStarts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#lineStarts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - (this.#lineStarts[low] ?? 0) + 1 }
  }
}

/** The file as text, or why it is none. A byte order mark is left out. */
export function decode({ path, bytes }: FileBytes): { source: Source; problem: Finding | undefined } {
  const text = new TextDecoder('utf-8').decode(bytes)
  const source = new Source(path, text)
  const bad = findBroken(text, bytes)
  if (bad >= 0) {
    const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
    const at = source.range(bad, bad + 1)
    const message = isUtf16 ? 'the file is UTF-16, not UTF-8' : 'this is not UTF-8'
    return { source, problem: finding('not-utf8', at, message, { suggestion: 'save the file as UTF-8' }) }
  }
  const control = findControl(text)
  if (control < 0) return { source, problem: undefined }
  const code = (text.codePointAt(control) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const message = `the control character U+${code} may not stand in a workflow file`
  const suggestion = 'write it as an escape in double quotes, or leave it out'
  return { source, problem: finding('control-character', source.range(control, control + 1), message, { suggestion }) }
}

/** Where the decoder put a replacement character that is not in the bytes, or -1. */
function findBroken(text: string, bytes: Uint8Array): number {
  let offset = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  let from = 0
  for (let at = text.indexOf('\uFFFD'); at >= 0; at = text.indexOf('\uFFFD', from)) {
    offset += Buffer.byteLength(text.slice(from, at))
    const isInFile = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd
    if (!isInFile) return at
    offset += 3
    from = at + 1
  }
  return -1
}

/** Where the first character stands that YAML does not allow in a file, or -1. */
function findControl(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 ? code !== 0x09 && code !== 0x0a && code !== 0x0d : code === 0x7f) return at
  }
  return -1
}
