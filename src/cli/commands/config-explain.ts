import { type Explained, readConfig } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'

/** Says which settings are in force, and which source each came from. Secrets are not shown. */
export const configExplain: CommandFile = {
  usage: '[SETTING...]',
  examples: ['millrace config explain', 'MILLRACE_PORT=8080 millrace config explain port --json'],
  prints: 'list',
  define: (command) => void command.argument('[setting...]', 'print only these settings'),
  async run({ output, sources }, names) {
    const { explained } = await readConfig(sources())
    const unknown = names.filter((name) => !explained.some((setting) => setting.name === name))
    if (unknown.length > 0) {
      const known = explained.map(({ name }) => name).join(', ')
      throw new UsageError(`there is no setting ${unknown.join(', ')}`, `choose from ${known}`)
    }
    const shown = explained.filter(({ name }) => names.length === 0 || names.includes(name))
    await output.list<Explained>(
      shown,
      [
        { title: 'setting', of: ({ name }) => name, importance: 'key' },
        {
          title: 'value',
          of: ({ value }) => String(value ?? '-'),
          plain: ({ value }) => String(value ?? ''),
          least: 12,
        },
        { title: 'from', of: ({ source }) => source, least: 12 },
      ],
      { id: ({ name }) => name, none: '' },
    )
  },
}
