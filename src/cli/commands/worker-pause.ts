import type { CommandFile } from '../command.ts'
import { askWorkers } from '../worker.ts'

/** Keeps workers from taking tasks. */
export const workerPause: CommandFile = {
  usage: 'ID...',
  examples: ['millrace worker pause 3', 'millrace worker pause 3 4 --json'],
  prints: 'list',
  define: (command) => void command.argument('<id...>', 'number of the worker, as `millrace worker ls` shows it'),
  run: (context, ids) => askWorkers(context, 'pause', ids),
}
