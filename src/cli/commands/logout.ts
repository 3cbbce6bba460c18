import { readContexts, writeContexts } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { contextNamed } from '../context-name.ts'
import { UsageError } from '../exit.ts'

/** Forgets a server and its token. The token itself lives on until it is revoked. */
export const logout: CommandFile = {
  usage: '[NAME]',
  examples: ['millrace logout', 'millrace logout ci'],
  prints: 'change',
  define: (command) => void command.argument('[name]', 'name of the context (default: the one in use)'),
  async run({ output, world: { environment } }, [given]) {
    const kept = readContexts(environment)
    const name = given ?? kept.current
    if (name === null) throw new UsageError('no context is in use', 'name one: `millrace context ls` lists them')
    const { url } = contextNamed(kept, name)
    const { [name]: _, ...contexts } = kept.contexts
    writeContexts({ current: kept.current === name ? null : kept.current, contexts }, environment)
    output.one({ context: name, url }, () => [`forgot ${name} and its token`], [name])
  },
}
