import { changeConfig, settings } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { readSecret } from '../prompt.ts'

/** Writes a setting into the configuration file. A secret is never an argument: everybody on the machine could read it. */
export const configSet: CommandFile = {
  usage: 'SETTING [VALUE] [--unset]',
  examples: ['millrace config set port 8080', 'millrace config set database_url < url.txt'],
  prints: 'change',
  define(command) {
    command
      .argument('<setting>', 'its name, as `millrace config explain` lists it')
      .argument('[value]', 'new value; a secret comes from standard input')
      .option('--unset', 'remove it from the file')
  },
  async run(context, [name = '', given], { unset }: { unset?: boolean }) {
    if (unset && given !== undefined) throw new UsageError('a value and --unset exclude each other', 'give one of them')
    const setting = settings.find((one) => one.name === name)
    const isSecret = setting !== undefined && 'isSecret' in setting
    if (isSecret && given !== undefined) {
      throw new UsageError(`${name} is a secret`, 'leave the value out and pipe it in: everybody sees a command line')
    }
    const value = unset ? undefined : (given ?? (isSecret ? await readSecret(context, `${name}: `) : undefined))
    if (value === undefined && !unset && setting !== undefined) {
      throw new UsageError('say what the setting is to be', `expected ${setting.expected}, or --unset`)
    }
    const path = await changeConfig(name, value, context.sources())
    const shown = isSecret ? '(not shown)' : (value ?? null)
    const told = `${unset ? `${name} is no longer` : `${name} is ${shown}`} in ${path}`
    context.output.one({ name, value: shown, path }, () => [told], [name])
    context.output.note('a server that runs takes it up when it is started again')
  },
}
