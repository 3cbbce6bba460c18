/**
 * The known word that was probably meant by `word`: the one that needs the fewest changes, if those are few for its
 * length. Letters that differ in case only, or are swapped with their neighbour, count little.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > LONGEST) continue
    const distance = changes(word.toLowerCase(), candidate.toLowerCase()) + (word === candidate ? 0 : 0.1)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return bestDistance <= Math.max(1, Math.floor(word.length / 3)) + 0.1 ? best : undefined
}

// A longer word is not a typing mistake, and the work grows with the product of the lengths.
const LONGEST = 64

/** How many letters must be changed, added, left out or swapped with their neighbour. */
function changes(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      line.push(
        Math.min(
          at(last, column - 1) + (isSame ? 0 : 1),
          at(last, column) + 1,
          at(line, column - 1) + 1,
          isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    ;[beforeLast, last] = [last, line]
  }
  return at(last, to.length)
}

const at = (line: readonly number[], column: number) => line[column] ?? Number.POSITIVE_INFINITY
