import type { CommandFile } from '../command.ts'
import { confirm } from '../prompt.ts'
import { WEBHOOK } from '../webhook.ts'

/** Removes a webhook with its deliveries, as it was when it was looked at. */
export const webhookRm: CommandFile = {
  usage: 'ID [--yes]',
  examples: ['millrace webhook rm 3', 'millrace webhook rm 3 --yes --json'],
  prints: 'change',
  define: (command) => void command.argument('<webhook>', WEBHOOK).option('-y, --yes', 'do not ask'),
  async run(context, [id = ''], { yes }: { yes?: boolean }) {
    const { client, routes } = await context.server()
    const { signal } = context
    const { url, version } = await client.call(routes.webhooks.get, { params: { id } }, { signal })
    if (!yes) await confirm(context, `remove webhook ${id} to ${url}, and what is still to be sent to it?`)
    await client.call(routes.webhooks.remove, { params: { id } }, { signal, ifMatch: `"${version}"` })
    context.output.one({ id, removed: true }, () => [`removed webhook ${id}`], [id])
  },
}
