import { readConfig } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { exitCodes, UsageError } from '../exit.ts'

/** Prints the value of a setting as it is in force; ends with 3 when it is not set. Secrets are not shown. */
export const configGet: CommandFile = {
  usage: 'SETTING',
  examples: ['millrace config get port', 'MILLRACE_PORT=8080 millrace config get port --json'],
  prints: 'one',
  define: (command) => void command.argument('<setting>', 'its name, as `millrace config explain` lists it'),
  async run({ output, sources }, [name = '']) {
    const { explained } = await readConfig(sources())
    const found = explained.find((setting) => setting.name === name)
    if (found === undefined) {
      const known = explained.map((setting) => setting.name).join(', ')
      throw new UsageError(`there is no setting ${name}`, `choose from ${known}`)
    }
    output.one(found, () => (found.value === null ? [] : [String(found.value)]))
    if (found.value !== null) return exitCodes.done
    output.note(`${name} is not set`)
    return exitCodes.not_found
  },
}
