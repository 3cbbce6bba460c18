import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import { positiveInteger } from '../numbers.ts'
import { printDeliveries, WEBHOOK } from '../webhook.ts'

type Options = { readonly state?: 'pending' | 'succeeded' | 'failed'; readonly limit: number }

/** Lists what was sent, the newest first. */
export const webhookDeliveries: CommandFile = {
  usage: 'ID [--state STATE] [--limit NUMBER]',
  examples: ['millrace webhook deliveries 3 --state failed', 'millrace webhook deliveries 3 --json=id,attempts'],
  prints: 'list',
  define(command) {
    command
      .argument('<webhook>', WEBHOOK)
      .addOption(new Option('--state <state>', 'list only this state').choices(['pending', 'succeeded', 'failed']))
      .option('--limit <number>', 'list at most so many, up to 500', positiveInteger, 50)
  },
  async run(context, [id = ''], { state, limit }: Options) {
    const { client, routes } = await context.server()
    const query = { limit, ...(state === undefined ? {} : { state }) }
    const page = await client.call(routes.webhooks.deliveries, { params: { id }, query }, { signal: context.signal })
    await printDeliveries(context, page.items, 'nothing was sent yet')
    if (page.next_cursor !== null) context.output.note('there are more: a higher --limit')
  },
}
