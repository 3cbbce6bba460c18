import { readContexts, writeContexts } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { contextNamed } from '../context-name.ts'

/** Chooses the server that commands ask unless told otherwise. */
export const contextUse: CommandFile = {
  usage: 'NAME',
  examples: ['millrace context use production', 'millrace context use local --json'],
  prints: 'change',
  define: (command) => void command.argument('<name>', 'name of the context'),
  async run({ output, world: { environment } }, [name = '']) {
    const kept = readContexts(environment)
    const { url } = contextNamed(kept, name)
    writeContexts({ ...kept, current: name }, environment)
    output.one({ name, url }, () => [`commands ask ${name}, ${url}`], [name])
  },
}
