import { readConfig, readContexts, writeContexts } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { checkName } from '../context-name.ts'

/** Names a server without signing in: for one that asks for no token, or one whose token comes from the environment. */
export const contextAdd: CommandFile = {
  usage: 'NAME URL',
  examples: [
    'millrace context add ci https://millrace.example.org',
    'millrace context add local http://127.0.0.1:7420',
  ],
  prints: 'change',
  define: (command) =>
    void command.argument('<name>', 'name of the context').argument('<url>', 'address of the server'),
  async run({ output, sources, world: { environment } }, [name = '', given = '']) {
    checkName(name)
    // Checked like any address that is given.
    const { config } = await readConfig(sources({ url: given }))
    const url = config.url ?? given
    const kept = readContexts(environment)
    const old = kept.contexts[name]
    // A token belongs to the server it was made by.
    const context = old?.url === url ? old : { url }
    writeContexts({ current: kept.current ?? name, contexts: { ...kept.contexts, [name]: context } }, environment)
    output.one({ name, url }, () => [`added ${name}, ${url}; choose it with \`millrace context use ${name}\``], [name])
  },
}
