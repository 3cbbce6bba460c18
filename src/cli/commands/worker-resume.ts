import type { CommandFile } from '../command.ts'
import { askWorkers } from '../worker.ts'

/** Lets workers take tasks again. */
export const workerResume: CommandFile = {
  usage: 'ID...',
  examples: ['millrace worker resume 3', 'millrace worker resume 3 4 --json'],
  prints: 'list',
  define: (command) => void command.argument('<id...>', 'number of the worker, as `millrace worker ls` shows it'),
  run: (context, ids) => askWorkers(context, 'resume', ids),
}
