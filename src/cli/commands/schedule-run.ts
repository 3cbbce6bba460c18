import { randomUUID } from 'node:crypto'
import type { CommandFile } from '../command.ts'
import { tellRun } from '../tell-run.ts'

/** Runs what is scheduled now, paused or not. */
export const scheduleRun: CommandFile = {
  usage: 'ID',
  examples: ['millrace schedule run 3', 'millrace schedule run 3 --json=run,tasks'],
  prints: 'change',
  define: (command) => void command.argument('<id>', 'number of the schedule, as `millrace schedule ls` shows it'),
  async run({ output, server, signal }, [id = '']) {
    const { client, routes } = await server()
    const options = { signal, idempotencyKey: randomUUID() }
    tellRun(output, await client.call(routes.schedules.run, { params: { id } }, options))
  },
}
