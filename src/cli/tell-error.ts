import { type Command, CommanderError } from 'commander'
import { exitCodes, exitOf, problemOf, tell, UsageError } from './exit.ts'
import type { Sink } from './world.ts'

type How = {
  /** JSON was asked for. */
  readonly asJson: boolean
  /** With the stack. */
  readonly debug: boolean
}

/** Writes an error to standard error, as lines or as one JSON object, and returns the exit code. */
export async function tellError(stderr: Sink, error: unknown, { asJson, debug }: How): Promise<number> {
  // The help that was asked for, or shown instead, is printed already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  const stack = debug ? ((error as Error).stack ?? String(error)) : undefined
  if (asJson) {
    const problem = problemOf(error)
    const shown = stack === undefined ? problem : { ...problem, stack }
    if (problem !== undefined) stderr.write(`${JSON.stringify(shown)}\n`)
    return exitOf(error)
  }
  // A message may carry names that others chose.
  const { cleanLines } = await import('./render/text.ts')
  for (const line of tell(error).flatMap(cleanLines)) stderr.write(`${line}\n`)
  if (stack !== undefined) stderr.write(`${stack}\n`)
  return exitOf(error)
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** What the parser found wrong with the words of `command`, as an error like all others. */
export function ofParser(error: CommanderError, command: Command): Error {
  if (error.exitCode === 0 || error.code === 'commander.help') return error
  const [, problem = '', nearest] = /^(?:error: )?(.*?)\.?(?:\n\(Did you mean (.*)\?\))?$/s.exec(error.message) ?? []
  const help = `\`${pathOf(command)} --help\` shows what it takes`
  return new UsageError(problem, nearest === undefined ? help : `did you mean ${nearest}? ${help}`)
}

/** Whether these words ask for JSON: the answer where the parser came to no end. */
export function asksJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  const own = end < 0 ? words : words.slice(0, end)
  return own.some((word) => word === '--json' || word.startsWith('--json=') || word === '--ndjson')
}
