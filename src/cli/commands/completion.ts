import { Argument } from 'commander'
import type { CommandFile } from '../command.ts'
import { shells } from '../complete.ts'

/** Prints the script with which a shell completes commands, options and the ids of tasks. */
export const completion: CommandFile = {
  usage: 'SHELL',
  examples: [
    'source <(millrace completion bash)',
    'millrace completion fish > ~/.config/fish/completions/millrace.fish',
  ],
  prints: 'one',
  define: (command) => void command.addArgument(new Argument('<shell>', 'whose script').choices(shells)),
  async run({ output }, [shell = '']) {
    const { scriptFor } = await import('../complete.ts')
    const script = await scriptFor(shell)
    output.one({ shell, script }, () => [script])
  },
}
