// Lines in the part of an address behind the `#`: `L120`, `L120-L140`.

export type LineRange = { readonly from: number; readonly to: number }

export function readLines(hash: string): LineRange | undefined {
  const [, first, last] = /^#?L(\d{1,10})(?:-L?(\d{1,10}))?$/.exec(hash) ?? []
  if (first === undefined) return undefined
  const [a, b] = [Number(first), Number(last ?? first)]
  return a < 1 || b < 1 ? undefined : { from: Math.min(a, b), to: Math.max(a, b) }
}

export const writeLines = ({ from, to }: LineRange): string => (from === to ? `L${from}` : `L${from}-L${to}`)

/** The range from a line that was chosen before to another. */
export const extendTo = (chosen: LineRange | undefined, line: number): LineRange =>
  chosen === undefined
    ? { from: line, to: line }
    : { from: Math.min(chosen.from, line), to: Math.max(chosen.from, line) }
