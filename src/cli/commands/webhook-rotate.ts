import type { CommandFile } from '../command.ts'
import { aDuration } from '../numbers.ts'
import { ago } from '../render/time.ts'
import { WEBHOOK } from '../webhook.ts'

/** Makes a new secret, printed once on standard output; the one before signs as well for a while. */
export const webhookRotate: CommandFile = {
  usage: 'ID [--keep DURATION]',
  examples: ['millrace webhook rotate 3 > secret.txt', 'millrace webhook rotate 3 --keep 1h --json'],
  prints: 'one',
  define(command) {
    command
      .argument('<webhook>', WEBHOOK)
      .option('--keep <duration>', 'how long the secret before signs as well (default: 1d)', aDuration)
  },
  async run({ output, server, signal }, [id = ''], { keep }: { keep?: number }) {
    const { client, routes } = await server()
    const body = keep === undefined ? {} : { body: { keep_seconds: Math.round(keep / 1000) } }
    const made = await client.call(routes.webhooks.rotate, { params: { id }, ...body }, { signal })
    output.one(made, () => [made.secret])
    if (made.old_secret_until !== null) output.note(`the secret before ends ${ago(made.old_secret_until)}`)
  },
}
