// A difference of two texts by lines, after Myers: the fewest lines added and removed. Bounded: two texts that have little in
// common are shown as one removed and one added, rather than searched for long.

export type DiffLine = {
  readonly sign: ' ' | '+' | '-'
  readonly text: string
  /** The numbers of the line, before and after; undefined where it is not there. */
  readonly before?: number
  readonly after?: number
}

export type Hunk = {
  readonly lines: readonly DiffLine[] /** How many equal lines were left out before it. */
  readonly skipped: number
}

/** So many lines may differ before the search is given up. */
const MOST_EDITS = 1_500
const CONTEXT = 3

export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

const same = (count: number): DiffLine['sign'][] => Array.from({ length: count }, () => ' ')

/** Every line of both texts, in order. */
export function diffLines(before: string, after: string, mostEdits: number = MOST_EDITS): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1
  const signs = search(a.slice(head, a.length - tail), b.slice(head, b.length - tail), mostEdits)
  const all = [...same(head), ...signs, ...same(tail)]
  let [i, j] = [0, 0]
  return all.map((sign) => {
    if (sign === '-') return { sign, text: a[i] ?? '', before: ++i }
    if (sign === '+') return { sign, text: b[j] ?? '', after: ++j }
    return { sign, text: a[i] ?? '', before: ++i, after: ++j }
  })
}

/** The signs of the lines of both texts, in order. */
function search(a: readonly string[], b: readonly string[], mostEdits: number): DiffLine['sign'][] {
  const most = Math.min(a.length + b.length, mostEdits)
  // reached[k] is how far into `a` one gets with so many edits on the diagonal k = x - y.
  const reached = new Map<number, number>([[1, 0]])
  const trail: Map<number, number>[] = []
  for (let edits = 0; edits <= most; edits += 1) {
    trail.push(new Map(reached))
    for (let k = -edits; k <= edits; k += 2) {
      let x = begins(reached, k, edits)
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      reached.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(trail, a.length, b.length)
    }
  }
  return [...a.map(() => '-' as const), ...b.map(() => '+' as const)]
}

const isDown = (reached: ReadonlyMap<number, number>, k: number, edits: number) =>
  k === -edits || (k !== edits && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1))

const begins = (reached: ReadonlyMap<number, number>, k: number, edits: number) =>
  isDown(reached, k, edits) ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1

function walkBack(trail: readonly ReadonlyMap<number, number>[], endX: number, endY: number): DiffLine['sign'][] {
  const signs: DiffLine['sign'][] = []
  let [x, y] = [endX, endY]
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const reached = trail[edits] as ReadonlyMap<number, number>
    const down = isDown(reached, x - y, edits)
    const fromX = down ? (reached.get(x - y + 1) ?? 0) : (reached.get(x - y - 1) ?? 0)
    const fromY = fromX - (down ? x - y + 1 : x - y - 1)
    while (x > Math.max(0, fromX) && y > Math.max(0, fromY)) {
      signs.push(' ')
      x -= 1
      y -= 1
    }
    if (edits > 0) signs.push(down ? '+' : '-')
    x = fromX
    y = fromY
  }
  return signs.reverse()
}

/** What has changed, each with a few equal lines around it. */
export function toHunks(lines: readonly DiffLine[], context: number = CONTEXT): Hunk[] {
  const hunks: { lines: DiffLine[]; skipped: number }[] = []
  let lastChange = Number.NEGATIVE_INFINITY
  const nextChange: number[] = []
  for (let i = lines.length - 1, next = Number.POSITIVE_INFINITY; i >= 0; i -= 1) {
    if (lines[i]?.sign !== ' ') next = i
    nextChange[i] = next
  }
  let skipped = 0
  let isOpen = false
  for (const [i, line] of lines.entries()) {
    if (line.sign !== ' ') lastChange = i
    if (i - lastChange > context && (nextChange[i] ?? 0) - i > context) {
      skipped += 1
      isOpen = false
      continue
    }
    if (!isOpen) hunks.push({ lines: [], skipped })
    skipped = 0
    isOpen = true
    hunks.at(-1)?.lines.push(line)
  }
  return hunks
}
