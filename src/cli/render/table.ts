import type { Style } from './style.ts'
import { clean, pad, prepareWidths, truncate, widthOf } from './text.ts'

export type Column<T> = {
  readonly title: string
  readonly of: (row: T) => string
  /** As it is printed for programs, where that differs. */
  readonly plain?: (row: T) => string
  readonly paint?: (text: string, row: T) => string
  readonly align?: 'left' | 'right'
  /** Cells that are left of it where the terminal is too narrow. Numbers, which stand on the right, are never cut. */
  readonly least?: number
  /** A key is copied into the next command and never cut; a name is cut when nothing else may give. */
  readonly importance?: 'key' | 'name'
}

export type TableOptions = {
  readonly style: Style
  /** The terminal's; without it nothing is cut. */
  readonly width?: number | undefined
}

const GAP = '  '
const LEAST = 12 // a state and an age fit into it
const NARROWEST = 4

/** Rows under a header, in columns as wide as their content asks for and the terminal allows. */
export async function table<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  options: TableOptions,
): Promise<string[]> {
  const cells = rows.map((row) => columns.map((column) => clean(column.of(row))))
  await prepareWidths(cells.flat())
  const wanted = columns.map((column, at) =>
    cells.reduce((most, line) => Math.max(most, widthOf(line[at] ?? '')), widthOf(column.title)),
  )
  const widths = options.width === undefined ? wanted : toFit(wanted, columns, options.width)
  const line = (texts: readonly string[], paint: (text: string, at: number) => string) =>
    texts
      .map((text, at) => {
        const width = widths[at] ?? 0
        const fitted = pad(truncate(text, width), width, columns[at]?.align)
        return paint(fitted, at)
      })
      .join(GAP)
      .trimEnd()
  const header = line(
    columns.map(({ title }) => title),
    (text) => options.style.dim(text),
  )
  return [
    header,
    ...rows.map((row, index) => line(cells[index] ?? [], (text, at) => columns[at]?.paint?.(text, row) ?? text)),
  ]
}

/** Takes from the widest column that may give, the least important ones first, until all fit or none may give more. */
function toFit<T>(wanted: readonly number[], columns: readonly Column<T>[], width: number): number[] {
  const widths = [...wanted]
  const leastOf = ({ align, importance, least = LEAST }: Column<T>, stage: 'others' | 'names' | 'all') => {
    if (align === 'right' || importance === 'key') return Number.POSITIVE_INFINITY
    if (stage === 'all') return NARROWEST
    return importance === 'name' && stage === 'others' ? Number.POSITIVE_INFINITY : least
  }
  let over = widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1)) - width
  for (const stage of ['others', 'names', 'all'] as const) {
    while (over > 0) {
      const spare = widths.map((one, at) => one - leastOf(columns[at] as Column<T>, stage))
      const most = Math.max(...spare)
      if (most <= 0) break
      const at = spare.indexOf(most)
      widths[at] = (widths[at] ?? 0) - 1
      over -= 1
    }
  }
  return widths
}

/** Rows for programs: values separated by tabs, none of which contains one. */
export function tabbed<T>(rows: readonly T[], columns: readonly Column<T>[]): string[] {
  return rows.map((row) => columns.map(({ plain, of }) => clean((plain ?? of)(row))).join('\t'))
}
