import type { CommandFile } from '../command.ts'

/** Suggests how a command line goes on. The scripts of `millrace completion` call it on each TAB. */
export const complete: CommandFile = {
  usage: '[WORD...]',
  examples: ['millrace complete -- ls --st', 'millrace complete -- show ""'],
  prints: 'one',
  define: (command) => void command.argument('[word...]', 'the words so far, the last of them unfinished'),
  async run(context, words) {
    const { suggest } = await import('../complete.ts')
    for (const line of await suggest(context, words)) context.output.line(line)
  },
}
