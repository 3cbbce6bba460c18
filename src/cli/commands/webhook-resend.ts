import type { CommandFile } from '../command.ts'
import { type Delivery, printDeliveries, WEBHOOK } from '../webhook.ts'

/** Sends deliveries again, at once and under the same id. */
export const webhookResend: CommandFile = {
  usage: 'ID DELIVERY...',
  examples: ['millrace webhook resend 3 118', 'millrace webhook resend 3 118 119 --quiet'],
  prints: 'list',
  define(command) {
    command
      .argument('<webhook>', WEBHOOK)
      .argument('<delivery...>', 'numbers of deliveries, as `millrace webhook deliveries` shows them')
  },
  async run(context, [id = '', ...deliveries]) {
    const { client, routes } = await context.server()
    const sent: Delivery[] = []
    for (const delivery of deliveries) {
      const params = { id, delivery }
      sent.push(await client.call(routes.webhooks.resend, { params }, { signal: context.signal }))
    }
    await printDeliveries(context, sent)
    context.output.note(`look at them with \`millrace webhook deliveries ${id}\``)
  },
}
