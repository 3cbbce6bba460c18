const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((part) => typeof part === 'string')

/** As one would type it: with quotes where a word has more in it than letters, digits and a few signs. */
const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/**
 * The command in what a task was given: of a node `{command, args}`, of an archive's task `{run: {command}}` or
 * `{run: {script}}`, of which the first line that says something is shown.
 */
export function commandOf(given: unknown): string | undefined {
  if (!isRecord(given)) return undefined
  const { run, command, args = [] } = given
  if (isRecord(run)) {
    if (isTexts(run['command'])) return run['command'].map(quote).join(' ')
    if (typeof run['script'] === 'string') return firstLine(run['script'])
    return undefined
  }
  if (typeof command !== 'string' || !isTexts(args)) return undefined
  return [command, ...args].map(quote).join(' ')
}

function firstLine(script: string): string | undefined {
  const lines = script.split('\n').filter((line) => line.trim() !== '' && !/^\s*(#|set -)/.test(line))
  const [line] = lines
  return line === undefined || lines.length === 1 ? line?.trim() : `${line.trim()} …`
}
