// The loom in a terminal: revisions from the youngest down, tasks from left to right, a sign for each.
import { frontier, type Picture, tellFrontier } from './frontier.ts'
import type { Output } from './output.ts'
import type { Style } from './render/style.ts'
import { clean, pad, truncate } from './render/text.ts'
import { ago } from './render/time.ts'

type Row = Picture['rows'][number]

const SIGNS: Readonly<Record<string, readonly [sign: string, paint: keyof Style]>> = {
  waiting: ['○', 'dim'],
  delayed: ['○', 'yellow'],
  ready: ['○', 'blue'],
  running: ['◐', 'blue'],
  held: ['‖', 'yellow'],
  succeeded: ['●', 'green'],
  failed: ['✕', 'red'],
  canceled: ['⊘', 'magenta'],
  skipped: ['–', 'dim'],
  superseded: ['⊘', 'magenta'],
}
const LEGEND = '● done  ◐ running  ○ waiting  ✕ failed  ⊘ superseded or canceled  – skipped  ‖ held'
const MOST_WIDE = 16
const AUTHOR = 10

export function drawLoom(picture: Picture, { style, width }: Output): string[] {
  const { columns, rows, gaps, states } = picture
  const heads = columns.map(({ name }) => truncate(clean(name), MOST_WIDE))
  const widths = heads.map((head) => Math.max(head.length + 2, 4))
  const side = (row: Row) =>
    ` ${`r${row.number}`.padEnd(8)}${pad(truncate(clean(row.author ?? '·'), AUTHOR), AUTHOR)} ${ago(row.date).replace(' ago', '').padEnd(8)} `
  const indent = ' '.repeat(1 + 8 + AUTHOR + 1 + 8 + 1)
  const cut = (line: string) => (width === undefined ? line : truncate(line, width)).trimEnd()
  const header =
    pad(style.bold(` ${clean(picture.archive)}`), indent.length) +
    heads.map((head, at) => pad(head, widths[at] ?? 0)).join('')
  const lines = rows.flatMap((row, at) => {
    const below = rows[at + 1]
    const isChanged = below !== undefined && below.definition !== row.definition
    const mark =
      row.problem_count > 0 ? style.red(` ! ${row.problem_count}`) : isChanged ? style.dim(' ← workflows changed') : ''
    return [
      cut(side(row) + cellsOf(row, { states, widths, style }) + mark),
      ...threads(row, below, { indent, widths, style }),
    ]
  })
  return [
    cut(header),
    ...gaps.map((gap) =>
      cut(` ${style.yellow(`r${gap.first}${gap.last > gap.first ? `–r${gap.last}` : ''}`)}  ·· ${gapText(gap)} ··`),
    ),
    ...lines,
    style.dim(LEGEND),
    ...(rows.length === 0 ? ['no revision has been planned yet'] : [`frontier: ${tellFrontier(frontier(picture))}`]),
    ...problemsOf(picture),
  ]
}

/** Where to read what is wrong with the youngest revision that has problems. */
function problemsOf({ archive, rows }: Picture): string[] {
  const row = rows.find(({ problem_count: problems }) => problems > 0)
  if (row === undefined) return []
  const key = clean(`${archive}@${row.number}`)
  return [`!: the problems of r${row.number} are told by \`millrace show ${/\s/.test(key) ? `'${key}'` : key}\``]
}

const gapText = ({ reason, since }: Picture['gaps'][number]) =>
  reason === 'not_announced' ? `not announced, awaited since ${ago(since)}` : 'not planned yet'

type Drawn = { readonly widths: readonly number[]; readonly style: Style }

/** A line joins a cell to the next where some edge within the revision leads there. */
function cellsOf(row: Row, { states, widths, style }: Drawn & { readonly states: readonly string[] }): string {
  const cells = new Map<number, string>()
  for (let i = 0; i < row.cells.length; i += 3) cells.set(row.cells[i] ?? 0, states[row.cells[i + 1] ?? 0] ?? '')
  return widths
    .map((width, at) => {
      const [sign, paint] = SIGNS[cells.get(at) ?? ''] ?? [' ', 'dim']
      return style[paint](sign) + ' '.repeat(width - 1)
    })
    .join('')
}

/** What waits for the revision below it. */
function threads(
  row: Row,
  below: Row | undefined,
  { indent, widths, style }: Drawn & { readonly indent: string },
): string[] {
  if (below === undefined) return []
  const warp = new Map<number, string>([[0, '│']])
  for (let i = 0; i < row.edges.length; i += 4) {
    const [from = 0, to = 0, back = 0, kind = 0] = row.edges.slice(i, i + 4)
    if (back > 0 && from === to) warp.set(to, kind === 3 ? '╎' : '│')
  }
  return [
    (indent + widths.map((width, at) => style.dim(warp.get(at) ?? ' ') + ' '.repeat(width - 1)).join('')).trimEnd(),
  ]
}
