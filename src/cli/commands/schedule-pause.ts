import type { CommandFile } from '../command.ts'
import { changeSchedules } from '../schedule.ts'

/** Keeps schedules from running. */
export const schedulePause: CommandFile = {
  usage: 'ID...',
  examples: ['millrace schedule pause 3', 'millrace schedule pause 3 4 --json'],
  prints: 'list',
  define: (command) => void command.argument('<id...>', 'number of the schedule, as `millrace schedule ls` shows it'),
  run: (context, ids) => changeSchedules(context, 'pause', ids),
}
