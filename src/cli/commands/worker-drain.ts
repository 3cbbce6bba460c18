import type { CommandFile } from '../command.ts'
import { askWorkers } from '../worker.ts'

/** Has workers take no more tasks, for good. */
export const workerDrain: CommandFile = {
  usage: 'ID...',
  examples: ['millrace worker drain 3', 'millrace worker drain 3 4 --json'],
  prints: 'list',
  define: (command) => void command.argument('<id...>', 'number of the worker, as `millrace worker ls` shows it'),
  run: (context, ids) => askWorkers(context, 'drain', ids),
}
