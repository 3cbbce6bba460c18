import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Writes a generated file, or with `--check` on the command line compares it with what is committed, and sets the
 * exit code when the two differ. `file` is relative to the repository.
 */
export function writeOrCompare(file: string, text: string): void {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text)
    return
  }
  const problem = firstDifference(existsSync(path) ? readFileSync(path, 'utf8') : '', text)
  if (problem === undefined) return
  console.error(`${file} is not what the sources give: ${problem}`)
  process.exitCode = 1
}

/** Where two texts part, or undefined when they are equal. */
function firstDifference(committed: string, generated: string): string | undefined {
  if (committed === generated) return undefined
  const [have, want] = [committed.split('\n'), generated.split('\n')]
  const line = want.findIndex((text, i) => text !== have[i])
  const at = line < 0 ? want.length : line
  return `line ${at + 1}\n  committed: ${have[at] ?? '(end)'}\n  generated: ${want[at] ?? '(end)'}`
}
