// A line of a log as it is shown: progress that overwrote itself folded to what stood in the end, the marks of groups taken
// out, colours kept.
import { type Pen, plainPen, readAnsi, type Segment } from './ansi.ts'

export type GroupMark = { readonly is: 'start' | 'end' }

export type ShownLine = {
  readonly segments: readonly Segment[]
  /** Groups that begin or end here, in order. */
  readonly marks: readonly GroupMark[]
  /** How often the line overwrote itself before. */
  readonly folded: number
  /** What a build tool said of the line. */
  readonly level: 'error' | 'warning' | undefined
  readonly pen: Pen
}

const ERASE = String.raw`(?:\u001b\[0K)?`
const SECTION = new RegExp(`^${ERASE}section_(start|end):\\d+:[\\w.-]+(?:\\[[^\\]\\r]*\\])?\\r?${ERASE}`)
const GROUP = /^(?:::group::|##\[group\])/
const END = /^(?:::endgroup::|##\[endgroup\])\s*/
const LEVEL = /^(?:::(error|warning)(?: [^:]*)?::|##\[(error|warning)\])/

/** Finds the lines on which groups begin and end, for a search by the server. */
export const GROUP_PATTERN =
  '^(?:\\x1b\\[0K)?(?:::group::|::endgroup::|##\\[group\\]|##\\[endgroup\\]|section_(?:start|end):\\d+:)'

/** Reads a line that begins with the pen of the one before. */
export function readLine(text: string, pen: Pen = plainPen): ShownLine {
  const { marks, level, at } = readMarks(text)
  const rest = text.endsWith('\r') ? text.slice(at, -1) : text.slice(at)
  const parts = rest.split('\r')
  const last = parts.findLastIndex((part) => part !== '')
  const before = parts.slice(0, Math.max(0, last))
  const offset = at + before.reduce((sum, part) => sum + part.length + 1, 0)
  const begun = before.length === 0 ? pen : readAnsi(before.join(''), pen).pen
  const read = readAnsi(parts[Math.max(0, last)] ?? '', begun, offset)
  return { segments: read.segments, pen: read.pen, marks, level, folded: before.filter((part) => part !== '').length }
}

function readMarks(text: string): { marks: GroupMark[]; level: ShownLine['level']; at: number } {
  const marks: GroupMark[] = []
  let at = 0
  for (;;) {
    const rest = text.slice(at)
    const section = SECTION.exec(rest)
    const found = section ?? GROUP.exec(rest) ?? END.exec(rest)
    if (found === null) break
    const isEnd = section === null ? END.test(rest) : section[1] === 'end'
    marks.push({ is: isEnd ? 'end' : 'start' })
    at += found[0].length
  }
  const level = LEVEL.exec(text.slice(at))
  return { marks, level: (level?.[1] ?? level?.[2]) as ShownLine['level'], at: at + (level?.[0].length ?? 0) }
}
