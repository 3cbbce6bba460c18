import type { CommandFile } from '../command.ts'
import { changeSchedules } from '../schedule.ts'

/** Lets paused schedules go on. */
export const scheduleResume: CommandFile = {
  usage: 'ID...',
  examples: ['millrace schedule resume 3', 'millrace schedule resume 3 4 --json'],
  prints: 'list',
  define: (command) => void command.argument('<id...>', 'number of the schedule, as `millrace schedule ls` shows it'),
  run: (context, ids) => changeSchedules(context, 'resume', ids),
}
