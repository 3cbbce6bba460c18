import { existsSync } from 'node:fs'
import { configPath, contextsPath } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'

/** Prints where the configuration file is that is read here, or would be. */
export const configPathCommand: CommandFile = {
  usage: '',
  examples: ['millrace config path', 'millrace config path --json=path,exists'],
  prints: 'one',
  async run({ output, sources, world }) {
    const path = configPath(sources())
    const exists = existsSync(path)
    output.one({ path, exists, contexts: contextsPath(world.environment) }, () => [path])
    if (!exists) output.note('it is not there yet; `millrace config set` makes it')
  },
}
