import { Command } from 'commander'
import { type CommandFile, declare, splitJsonFields } from './command.ts'
import type { GlobalOptions } from './context.ts'
import { exitCodes, UsageError } from './exit.ts'
import { findCommand, findForeign } from './foreign.ts'
import type { Loaders } from './host.ts'
import type { Entry } from './leaf.ts'
import { asksJson, ofParser, tellError } from './tell-error.ts'
import { topics } from './topics.ts'
import { hidden, tree } from './tree.ts'
import { version } from './version.ts'
import { processWorld, type Sink, type World } from './world.ts'

/** Does what a command's file says, with the arguments and options that the parser found. */
export type Perform = (file: CommandFile, args: readonly string[], options: GlobalOptions) => Promise<void>

const files = new WeakMap<Command, () => Promise<CommandFile>>()

/** The whole command tree by names alone. What a command takes, and what it does, is loaded when it is asked for. */
export function createProgram(perform: Perform, without: readonly string[] = []): Command {
  const program = new Command('millrace')
    .description('Runs the work that follows when something arrives at a repository.')
    .usage('COMMAND [options]')
    .version(version(), '-V, --version', 'print the version')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name() })
    .showSuggestionAfterError(true)
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .option('--server <url>', 'use this server (default: MILLRACE_URL, the context in use, or this machine)')
    .option('--token-file <path>', 'send the token in this file (default: MILLRACE_TOKEN, or as the server)')
    .option('--color <when>', 'use colours: auto, always or never', 'auto')
    .option('--debug', 'print the stack of an error')
  for (const { title, commands } of tree) {
    program.commandsGroup(`${title}:`)
    for (const entry of commands) if (!without.includes(entry.name)) addEntry(program, entry, perform)
  }
  program.helpCommand('help [command or topic]', 'explain a command, or what holds for many')
  program.addHelpText('after', ['', 'Topics (millrace help TOPIC):', ...topics.map(topicLine)].join('\n'))
  for (const entry of hidden) if (!without.includes(entry.name)) addEntry(program, entry, perform, { hidden: true })
  return program.hook('preSubcommand', (_, command) => load(command, perform))
}

const topicLine = ({ name, about }: (typeof topics)[number]) => `  ${name.padEnd(20)} ${about}`

type Place = { readonly hidden?: boolean; readonly isDefault?: boolean }

function addEntry(parent: Command, entry: Entry, perform: Perform, place: Place = {}): void {
  const command = parent.command(entry.name, place).description(entry.about)
  if ('load' in entry) {
    files.set(command, entry.load)
    return
  }
  command.helpCommand(false).usage('COMMAND [options]')
  for (const below of entry.commands) addEntry(command, below, perform, { isDefault: below.name === entry.byDefault })
  command.hook('preSubcommand', (_, inner) => load(inner, perform))
}

async function load(command: Command, perform: Perform): Promise<void> {
  const file = await files.get(command)?.()
  if (file === undefined) return
  files.delete(command)
  declare(command, file)
  command.action(async () => {
    // The parser gives arguments that were left out as undefined, and those that may be many as a list.
    const args = command.processedArgs.flat().filter((arg): arg is string => arg !== undefined)
    await perform(file, args, command.optsWithGlobals())
  })
}

/** Loads the file of every command: for completion and for the guide, which need all of them. */
export async function loadAll(command: Command, perform: Perform): Promise<void> {
  await load(command, perform)
  for (const below of command.commands) await loadAll(below, perform)
}

/** Runs the command line and returns the exit code. Errors go to standard error: what, why, and what to do. */
export async function run(argv: readonly string[], loaders: Loaders, world: World = processWorld): Promise<number> {
  const { stdout, stderr } = world
  let exitCode: number = exitCodes.done
  let isServing = false
  let asJson = asksJson(argv)
  endWithReader(world, () => isServing)
  const perform: Perform = async (file, args, options) => {
    isServing = file.isServing ?? false
    asJson = Boolean(options.json || options.ndjson)
    // Help and a mistyped name do without it.
    const { createContext } = await import('./context.ts')
    const context = createContext({ world, loaders, options, prints: file.prints })
    try {
      exitCode = (await file.run(context, args, options)) ?? exitCodes.done
    } catch (error) {
      // What broke off because the person ended it is not told as an error of its own.
      throw context.endedBy() ?? error
    } finally {
      context.end()
    }
  }
  const program = createProgram(perform)
  writeTo(program, world)
  try {
    const asked = askedHelp(argv)
    const topic = asked && (await explain(program, asked.words))
    if (topic !== undefined) {
      stdout.write(topic)
      return exitCode
    }
    const marked = await markForeign(program, asked?.argv ?? argv, perform)
    asJson = asksJson(marked)
    await program.parseAsync(splitJsonFields(marked))
    return exitCode
  } catch (error) {
    return tellError(stderr, error, { asJson, debug: program.opts<GlobalOptions>().debug ?? false })
  }
}

/** Has the parser print help to these sinks, and throw what is wrong as an error like all others. */
function writeTo(command: Command, world: World): void {
  const { stdout, stderr } = world
  const widthOf = (sink: Sink) => (sink.isTTY ? (sink.columns ?? 80) : 100)
  command.configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(text),
    outputError: () => {},
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
  })
  command.exitOverride((error) => {
    throw ofParser(error, command)
  })
  for (const below of command.commands) writeTo(below, world)
}

/** Puts `--` before the words that belong to another program: the parser would take its options for ours. */
async function markForeign(program: Command, argv: readonly string[], perform: Perform): Promise<readonly string[]> {
  const [node = '', script = '', ...words] = argv
  const { command, at } = findCommand(program, words)
  await load(command, perform)
  const foreign = findForeign(command, words, at)
  return foreign === undefined ? argv : [node, script, ...words.slice(0, foreign), '--', ...words.slice(foreign)]
}

/** What `help TOPIC` prints; undefined where it is a command that is to be explained. Throws when it is neither. */
async function explain(program: Command, [name, ...more]: readonly string[]): Promise<string | undefined> {
  if (name === undefined || program.commands.some((command) => command.name() === name)) return undefined
  const topic = topics.find((one) => one.name === name)
  if (topic !== undefined && more.length === 0) return `${topic.about}\n\n${topic.text}\n`
  const names = topics.map((one) => one.name)
  const { closest } = await import('../config/index.ts')
  const meant = closest(name, [...names, ...program.commands.map((command) => command.name())], 3)
  throw new UsageError(
    `there is no command and no topic ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    `topics are ${names.join(', ')}; \`millrace --help\` lists the commands`,
  )
}

/** `help node add` as `node add --help`: the parser would explain a command whose file is not loaded. */
function askedHelp(argv: readonly string[]): { readonly argv: string[]; readonly words: string[] } | undefined {
  const [node = '', script = '', ...words] = argv
  let at = 0
  while (words[at]?.startsWith('-')) at += /^--(server|token-file|color)$/.test(words[at] ?? '') ? 2 : 1
  if (words[at] !== 'help') return undefined
  const about = words.slice(at + 1)
  return { argv: [node, script, ...words.slice(0, at), ...about, '--help'], words: about }
}

/** `millrace ls | head` ends when `head` has seen enough, and says nothing about it. A server goes on. */
function endWithReader({ stdout, stderr }: World, isServing: () => boolean): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isServing()) return
    if (error.code === 'EPIPE') process.exit(exitCodes.done)
    stderr.write(`millrace: standard output cannot be written: ${error.message}\n`)
    process.exit(exitCodes.failure)
  })
  // There is no place left for messages; the exit code still says how it ended.
  stderr.on('error', () => {})
}
