/**
 * The known word that was probably meant by `word`: the one that needs the fewest changes, if those are few for its
 * length, or that begins the same. Case does not count; of two that are equally near, one with the same first letter.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word === '' || word.length > LONGEST) return undefined
  const limit = Math.max(1, Math.floor(word.length / 2.5))
  let best: string | undefined
  let bestDistance = limit + 0.9
  for (const candidate of known) {
    if (candidate.length > LONGEST) continue
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase(), limit)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** A word that only begins the same is the farthest that still counts. */
function distanceOf(word: string, candidate: string, limit: number): number {
  const firstOther = Array.from(word).findIndex((letter, i) => letter !== candidate[i])
  const isSameBeginning = (firstOther < 0 ? word.length : firstOther) >= Math.max(4, word.length * 0.6)
  const distance = changes(word, candidate) + (word[0] === candidate[0] ? 0 : 0.5)
  return isSameBeginning ? Math.min(distance, limit + 0.7) : distance
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
