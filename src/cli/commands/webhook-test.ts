import type { CommandFile } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { clean } from '../render/text.ts'
import { outcomeOf, WEBHOOK } from '../webhook.ts'

/** Sends a test message once, now, and ends with 1 when the receiver does not take it. */
export const webhookTest: CommandFile = {
  usage: 'ID',
  examples: ['millrace webhook test 3', 'millrace webhook test 3 --json=state,attempts'],
  prints: 'one',
  define: (command) => void command.argument('<webhook>', WEBHOOK),
  async run({ output, server, signal }, [id = '']) {
    const { client, routes } = await server()
    const delivery = await client.call(routes.webhooks.test, { params: { id } }, { signal })
    const isTaken = delivery.state === 'succeeded'
    output.one(delivery, () => [
      `${isTaken ? 'taken' : 'not taken'}: ${clean(outcomeOf(delivery))}`,
      ...(isTaken ? [] : [delivery.attempts.at(-1)?.answer ?? ''].filter(Boolean).map(clean)),
    ])
    return isTaken ? exitCodes.done : exitCodes.failure
  },
}
