import { linesOf } from './diff-lines.ts'

export type Frame = {
  readonly lines: readonly { readonly number: number; readonly text: string; readonly isMeant: boolean }[]
  /** Spaces before, and how many marks: what stands below the line that is meant. */
  readonly indent: number
  readonly length: number
}

const AROUND = 2
const LONGEST = 200

type Place = { readonly line: number; readonly column: number; readonly endLine?: number; readonly endColumn?: number }

/** The line that is meant with a few around it, and where to point. Undefined: the text has no such line. */
export function codeFrame(text: string, { line, column, endLine, endColumn }: Place): Frame | undefined {
  const all = linesOf(text)
  const meant = all[line - 1]
  if (meant === undefined) return undefined
  const first = Math.max(1, line - AROUND)
  const lines = all.slice(first - 1, line + AROUND).map((content, i) => ({
    number: first + i,
    text: content.slice(0, LONGEST),
    isMeant: first + i === line,
  }))
  const indent = Math.min(column - 1, meant.length, LONGEST - 1)
  const end = endLine === line && endColumn !== undefined ? endColumn - 1 : column
  return { lines, indent, length: Math.max(1, Math.min(end, meant.length, LONGEST) - indent) }
}
