// An escape sequence, or one character.
const PIECES = new RegExp(`${'\u001b'}\\[([?\\d;]*[A-Za-z])|[\\s\\S]`, 'gu')

/** What a terminal shows after it was sent this: the lines, without colours, as far as this program moves the cursor. */
export function screenOf(sent: string): string[] {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  const put = (character: string) => {
    while (lines.length <= row) lines.push('')
    const line = (lines[row] ?? '').padEnd(column)
    lines[row] = line.slice(0, column) + character + line.slice(column + 1)
    column += 1
  }
  for (const [piece, sequence] of sent.matchAll(PIECES)) {
    if (sequence === undefined) {
      if (piece === '\n') [row, column] = [row + 1, 0]
      else if (piece === '\r') column = 0
      else put(piece)
    } else if (sequence.endsWith('A')) row -= Number.parseInt(sequence, 10)
    else if (sequence === 'K') lines[row] = (lines[row] ?? '').slice(0, column)
    else if (sequence === 'J') lines.splice(row, lines.length, (lines[row] ?? '').slice(0, column))
  }
  return lines
}
