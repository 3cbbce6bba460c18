/** What leads from one text to another, line by line: `- ` what is there, `+ ` what would be, `  ` what stays. */
export function diffLines(from: string, to: string): string[] {
  const old = from.split('\n')
  const young = to.split('\n')
  // common[i][j]: how many lines the rests from i and from j share, in order.
  const common = Array.from({ length: old.length + 1 }, () => young.map(() => 0))
  const at = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      const row = common[i] as number[]
      row[j] = old[i] === young[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: string[] = []
  for (let i = 0, j = 0; i < old.length || j < young.length; ) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      lines.push(`  ${old[i]}`)
      i++
      j++
    } else if (j >= young.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) lines.push(`- ${old[i++]}`)
    else lines.push(`+ ${young[j++]}`)
  }
  return lines.filter((line) => line.trim() !== '')
}
