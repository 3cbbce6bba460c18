import type { Command } from 'commander'
import { configOf } from './flags.ts'

const examples = `
Examples:
  millrace config explain
  MILLRACE_PORT=8080 millrace config explain --json`

/** `millrace config explain`: which settings are in force, and which source each came from. Secrets are not shown. */
export function addConfig(program: Command): void {
  program
    .command('config')
    .description('the settings')
    .command('explain')
    .description('print every setting in force and where it came from')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(async (options: { json?: boolean }) => {
      const { explained } = await configOf({})
      if (options.json) {
        console.log(JSON.stringify(explained))
        return
      }
      const width = Math.max(...explained.map(({ name }) => name.length))
      for (const { name, value, source } of explained)
        console.log(`${name.padEnd(width)}  ${value ?? '-'}  (${source})`)
    })
}
