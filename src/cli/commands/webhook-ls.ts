import type { CommandFile } from '../command.ts'
import { type Webhook, webhookColumns } from '../webhook.ts'

/** Lists webhooks, without their secrets. */
export const webhookLs: CommandFile = {
  usage: '',
  examples: ['millrace webhook ls', 'millrace webhook ls --json=id,url,disabled_because'],
  prints: 'list',
  async run({ output, server, signal }) {
    const { client, routes } = await server()
    const items: Webhook[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = cursor === undefined ? {} : { cursor }
      const page = await client.call(routes.webhooks.list, { query }, { signal })
      items.push(...page.items)
      cursor = page.next_cursor
    }
    await output.list(items, webhookColumns, {
      id: ({ id }) => id,
      none: 'no webhooks; `millrace webhook add` makes one',
    })
  },
}
