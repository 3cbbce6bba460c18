import type { CommandFile } from './command.ts'
import { WEBHOOK, type Webhook, webhookColumns } from './webhook.ts'

/** The commands that switch webhooks on and off. */
export function switchCommand(verb: 'enable' | 'disable', enabled: boolean): CommandFile {
  return {
    usage: 'ID...',
    examples: [`millrace webhook ${verb} 3`, `millrace webhook ${verb} 3 4 --quiet`],
    prints: 'list',
    define: (command) => void command.argument('<webhook...>', WEBHOOK),
    async run({ output, server, signal }, ids) {
      const { client, routes } = await server()
      const changed: Webhook[] = []
      for (const id of ids) {
        changed.push(await client.call(routes.webhooks.change, { params: { id }, body: { enabled } }, { signal }))
      }
      await output.list(changed, webhookColumns, { id: ({ id }) => id, none: '' })
    },
  }
}
