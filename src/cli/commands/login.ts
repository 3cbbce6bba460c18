import { readContexts, writeContexts } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { checkName } from '../context-name.ts'
import { ADMIN_TOKEN, SIGN_IN, UsageError } from '../exit.ts'
import { readSecret } from '../prompt.ts'
import { clean } from '../render/text.ts'

type Options = { readonly name?: string; readonly server?: string; readonly tokenFile?: string }

/** Keeps the address and the token of a server, after it has taken the token. */
export const login: CommandFile = {
  usage: '[--name NAME]',
  examples: [
    'millrace login --server https://millrace.example.org',
    'millrace login --server https://millrace.example.org --name ci --token-file token.txt',
  ],
  prints: 'change',
  define: (command) => void command.option('--name <name>', "the context's (default: the server's host)"),
  async run(context, _, options: Options) {
    const { output, world } = context
    const { connection, routes } = await context.server()
    const { url } = connection
    const name = options.name ?? new URL(url).host.replaceAll(/[^\w.-]/g, '-')
    checkName(name)
    if (options.tokenFile === undefined && world.stdin.isTTY) output.note(ADMIN_TOKEN)
    const token =
      options.tokenFile === undefined ? await readSecret(context, `token for ${url}: `) : (connection.token ?? '')
    if (!/^\S+$/.test(token)) throw new UsageError('that is not a token', SIGN_IN)
    if (/^http:\/\/(?!127\.|localhost\b|\[::1\])/.test(url)) {
      output.note('note: http is not encrypted; whoever listens on the way can read the token')
    }
    const { createClient } = await import('../../api/index.ts')
    // Only what the server takes is kept.
    const me = await createClient({ url, token }).call(routes.session.me, {}, { signal: context.signal })
    const kept = readContexts(world.environment)
    writeContexts({ current: name, contexts: { ...kept.contexts, [name]: { url, token } } }, world.environment)
    const may = me.limit === null ? `role ${me.role}` : `limited to ${me.limit.to} ${me.limit.name}`
    const told = `signed in to ${url} as ${clean(me.name)} (${clean(may)}); commands use this server from now on`
    output.one({ context: name, url, name: me.name, role: me.role }, () => [told], [name])
  },
}
