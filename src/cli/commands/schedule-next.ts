import type { CommandFile } from '../command.ts'
import { positiveInteger } from '../numbers.ts'
import { clean } from '../render/text.ts'

/** Says when a schedule comes next, and what came of the last times. */
export const scheduleNext: CommandFile = {
  usage: 'ID [--count N]',
  examples: ['millrace schedule next 3', 'millrace schedule next 3 --count 20 --json=next'],
  prints: 'one',
  define(command) {
    command
      .argument('<id>', 'number of the schedule, as `millrace schedule ls` shows it')
      .option('--count <n>', 'show so many times', positiveInteger, 5)
  },
  async run({ output, server, signal }, [id = ''], { count }: { count: number }) {
    const { client, routes } = await server()
    const shown = await client.call(routes.schedules.get, { params: { id }, query: { count } }, { signal })
    const { timezone } = shown
    const local = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
    output.one(shown, () => [
      `${clean(shown.workflow)} of ${clean(shown.archive)}, ${clean(shown.cron)} in ${clean(timezone)}, ${shown.state}`,
      ...shown.next.map((at) => `next  ${at}  ${local.format(new Date(at))}`),
      ...shown.ticks.map(
        ({ at, outcome, run, reason }) =>
          `last  ${at}  ${outcome}${run === null ? `: ${clean(reason ?? '')}` : ` run ${run}`}`,
      ),
    ])
  },
}
