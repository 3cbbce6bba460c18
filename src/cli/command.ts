import { type Command, Option } from 'commander'
import type { Context } from './context.ts'
import { type Foreign, takeForeign } from './foreign.ts'

/**
 * What a command prints, which decides how it may be asked to: one thing (`--json`), what has been changed (also
 * `-q`), a list (also `--plain`, `-q`), or things as they happen (`--ndjson`).
 */
export type Prints = 'one' | 'change' | 'list' | 'stream'

/** A command as its file declares it: how it is written, and what it does. */
export type CommandFile = {
  /** Its arguments and its own options. */
  readonly usage: string
  readonly examples: readonly [string, string]
  readonly prints: Prints
  /** It goes on when nobody reads what it prints. */
  readonly isServing?: boolean
  /** Its arguments belong to another program, options too. */
  readonly foreign?: Foreign
  /** Declares the arguments and options to the parser. */
  define?(command: Command): void
  /** Does it, and answers the exit code when that is not 0. Arguments that were left out are not in the list. */
  run(context: Context, args: readonly string[], options: Options): Promise<number> | Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: the parser gives what was declared, and each file says what that is
type Options = any

/** Options that a command has because of what it prints. */
export const outputFlags: Readonly<Record<Prints, readonly string[]>> = {
  one: ['--json'],
  change: ['--json', '--quiet'],
  list: ['--json', '--plain', '--quiet'],
  stream: ['--json', '--ndjson'],
}

/** Gives the parser's command what its file declares. */
export function declare(command: Command, file: CommandFile): void {
  // Before a program of another's stand our options, or they would be its own.
  const words = file.foreign === undefined ? [file.usage, '[options]'] : ['[options]', file.usage]
  command.usage(words.filter(Boolean).join(' '))
  file.define?.(command)
  if (file.foreign !== undefined) takeForeign(command, file.foreign)
  const flags = outputFlags[file.prints]
  command.optionsGroup('Output:')
  command.option('--json', 'print JSON; --json=id,state picks fields')
  command.addOption(new Option('--json-fields <names>').hideHelp())
  if (flags.includes('--plain')) command.option('--plain', 'print values separated by tabs, without a header')
  if (flags.includes('--quiet')) command.option('-q, --quiet', 'print ids only')
  if (flags.includes('--ndjson')) command.option('--ndjson', 'print one JSON value a line, as things happen')
  command.addHelpText('after', ['', 'Examples:', ...file.examples.map((example) => `  ${example}`)].join('\n'))
}

/** `--json=id,state` as the parser takes it: an option whose value may be left out would swallow the next argument. */
export function splitJsonFields(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.flatMap((word, at) =>
    word.startsWith('--json=') && (end < 0 || at < end) ? ['--json', `--json-fields=${word.slice(7)}`] : [word],
  )
}
