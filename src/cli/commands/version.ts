import type { CommandFile } from '../command.ts'
import { version as release } from '../version.ts'

/** Says what runs here. */
export const version: CommandFile = {
  usage: '',
  examples: ['millrace version', 'millrace version --json'],
  prints: 'one',
  async run({ output }) {
    const found = { version: release(), node: process.versions.node, platform: `${process.platform}-${process.arch}` }
    output.one(found, () => [found.version])
  },
}
