// A command line may end in one of another program: `millrace node add ls -la`. From that program on, no word is ours.
import type { Command, Option } from 'commander'

/** What the foreign words are: a program with its arguments, or the arguments of a program that the command chooses. */
export type Foreign = 'program' | 'arguments'

const takers = new WeakMap<Command, Foreign>()

export const takeForeign = (command: Command, foreign: Foreign): void => void takers.set(command, foreign)

export const takesForeign = (command: Command): boolean => takers.has(command)

/** The command that these words name, and the place of the first word behind its name. */
export function findCommand(program: Command, words: readonly string[]): { command: Command; at: number } {
  let command = program
  for (let at = 0; ; at += 1) {
    at = skipOptions(words, at, command)
    const below = command.commands.find((one) => one.name() === words[at])
    if (below === undefined) return { command, at }
    command = below
  }
}

/** The place of the first word that belongs to another program; undefined where none does, or `--` marks it. */
export function findForeign(command: Command, words: readonly string[], from: number): number | undefined {
  const foreign = takers.get(command)
  if (foreign === undefined) return undefined
  const at = skipOptions(words, from, command)
  const word = words[at]
  if (word === undefined || word === '--') return undefined
  // An option that is unknown before any program is a mistake.
  return foreign === 'program' && isOption(word) ? undefined : at
}

const isOption = (word: string) => word.startsWith('-') && word !== '-'

/** Skips the options that the command, or one above it, takes. */
function skipOptions(words: readonly string[], from: number, command: Command): number {
  const known = optionsOf(command)
  let at = from
  for (;;) {
    const word = words[at] ?? ''
    if (word === '--' || !isOption(word)) return at
    const [name] = word.split('=', 1)
    const option = known.find(({ long, short }) => long === name || short === name)
    if (option === undefined && name !== '--help' && name !== '-h') return at
    at += option?.required && !word.includes('=') ? 2 : 1
  }
}

const optionsOf = (command: Command): readonly Option[] =>
  command.parent === null ? command.options : [...command.options, ...optionsOf(command.parent)]
