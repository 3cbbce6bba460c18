// Which lines are hidden in closed groups, and so which line stands in which row.

/** The lines after the title of a group, up to its end: `from` and `to` are hidden. */
export type Fold = { readonly from: number; readonly to: number }

/** Folds that lie in others do not count while those are closed. */
function outermost(folds: readonly Fold[]): Fold[] {
  const sorted = folds.filter(({ from, to }) => to >= from).sort((a, b) => a.from - b.from || b.to - a.to)
  const outer: Fold[] = []
  for (const fold of sorted) if (fold.from > (outer.at(-1)?.to ?? 0)) outer.push(fold)
  return outer
}

export class Folding {
  readonly #outer: readonly Fold[]

  constructor(folds: readonly Fold[]) {
    this.#outer = outermost(folds)
  }

  /** How many rows so many lines take. */
  rows(lines: number): number {
    return this.#outer.reduce((rows, { from, to }) => rows - Math.max(0, Math.min(to, lines) - from + 1), lines)
  }

  /** The line in a row; both are counted from 1. */
  line(row: number): number {
    let line = row
    for (const { from, to } of this.#outer) {
      if (line < from) break
      line += to - from + 1
    }
    return line
  }

  /** The row of a line; of a hidden one that of its group's title. */
  row(line: number): number {
    let row = line
    for (const { from, to } of this.#outer) {
      if (line < from) break
      row -= Math.min(line, to) - from + 1
    }
    return Math.max(1, row)
  }
}

export const isHidden = (folds: readonly Fold[], line: number): boolean =>
  folds.some(({ from, to }) => line >= from && line <= to)
