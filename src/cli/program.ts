import { Command, CommanderError } from 'commander'
import { addConfig } from './config.ts'
import { exitCodes, report } from './exit.ts'
import type { LoadHost } from './host.ts'
import { addMigrate } from './migrate.ts'
import { addServe } from './serve.ts'
import { addVersion, version } from './version.ts'

/** The whole command tree. What a command needs to run is loaded when it runs. */
export function createProgram(loadHost: LoadHost): Command {
  const program = new Command('millrace')
    .description('Runs the work that follows when something arrives at a repository.')
    .version(version(), '-V, --version', 'print the version')
    .option('--debug', 'print the stack of an error')
    .showSuggestionAfterError(true)
    .showHelpAfterError('(add --help for the usage)')
    .exitOverride()
  addServe(program, loadHost)
  addMigrate(program, loadHost)
  addConfig(program)
  addVersion(program)
  return program
}

/** Runs the command line and answers the exit code. Errors are told in two lines: what, and what to do. */
export async function run(argv: readonly string[], loadHost: LoadHost): Promise<number> {
  const program = createProgram(loadHost)
  try {
    await program.parseAsync(argv)
    return Number(process.exitCode ?? exitCodes.done)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    return report(error, program.opts<{ debug?: boolean }>().debug ?? false)
  }
}
