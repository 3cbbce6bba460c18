import type { CommandFile } from '../command.ts'
import { mapAtOnce } from '../map-at-once.ts'
import { confirm } from '../prompt.ts'
import { count } from '../render/text.ts'

/** Ends tokens, and the sessions that came from them, at once. */
export const tokenRevoke: CommandFile = {
  usage: 'ID... [--yes]',
  examples: ['millrace token revoke 3', 'millrace token revoke 3 4 --yes'],
  prints: 'list',
  define(command) {
    command
      .argument('<token...>', 'number of the token, as `millrace token ls` shows it')
      .option('-y, --yes', 'do not ask')
  },
  async run(context, ids, { yes }: { yes?: boolean }) {
    const { output, signal } = context
    const { client, routes } = await context.server()
    if (!yes) await confirm(context, `revoke ${ids.length === 1 ? `token ${ids[0]}` : count(ids.length, 'token')}?`)
    await mapAtOnce(ids, 4, (id) => client.call(routes.tokens.revoke, { params: { id } }, { signal }))
    const rows = ids.map((id) => ({ id, revoked: true }))
    if (output.format === 'text') output.line(`revoked ${count(ids.length, 'token')}`)
    else
      await output.list(rows, [{ title: 'id', of: ({ id }) => id, importance: 'key' }], {
        id: ({ id }) => id,
        none: '',
      })
  },
}
