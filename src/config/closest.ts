/**
 * The known word that needs the fewest changes of letters to become `word`: what was probably meant. None when all need
 * more than `most`.
 */
export function closest(word: string, known: readonly string[], most = Infinity): string | undefined {
  const [first] = [...known].sort((a, b) => distance(word, a) - distance(word, b))
  return first === undefined || distance(word, first) > most ? undefined : first
}

function distance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of from.split('').entries()) {
    const line = [row + 1]
    for (const [column, other] of to.split('').entries()) {
      const changed = (above[column] ?? 0) + (letter === other ? 0 : 1)
      line.push(Math.min(changed, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1))
    }
    above = line
  }
  return above.at(-1) ?? 0
}
