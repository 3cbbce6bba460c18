import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { listTasks, type TaskFilter } from '../list-tasks.ts'
import { positiveInteger } from '../numbers.ts'
import { taskColumns, taskStates } from '../task.ts'

type Options = TaskFilter & { readonly limit: number; readonly all?: boolean }

/** Lists tasks of every part, the newest first. */
export const ls: CommandFile = {
  usage: '[WORD...] [--state STATES] [--scope SCOPE] [--kind KIND] [--queue QUEUE] [--limit NUMBER] [--all]',
  examples: ['millrace ls --state failed,held', "millrace ls archive --scope 'archive:My-*' --json=id,state"],
  prints: 'list',
  define(command) {
    command
      .argument('[word...]', 'words and qualifiers to search for: state:failed kind:x index')
      .option('--state <states>', 'one state or several, separated by commas')
      .option('--scope <scope>', 'a scope; one that ends in * takes all that begin so')
      .option('--kind <kind>', 'the kind of work')
      .option('--queue <queue>', 'the queue')
      .option('--limit <number>', 'how many at most', positiveInteger, 50)
      .option('--all', 'all of them')
  },
  async run(context, words, { state, scope, kind, queue, limit, all }: Options) {
    const { output, signal } = context
    const unknown = state?.split(',').find((one) => !taskStates.some((known) => known === one))
    if (unknown !== undefined) throw new UsageError(`"${unknown}" is no state`, `states are ${taskStates.join(', ')}`)
    const filter = Object.fromEntries(
      Object.entries({ state, scope, kind, queue, q: words.join(' ') }).filter(([, value]) => value),
    )
    const most = all ? Number.POSITIVE_INFINITY : limit
    const { items, hasMore } = await listTasks(await context.server(), filter, { most, signal })
    await output.list(items, taskColumns(output.style), { id: ({ id }) => id, none: 'no tasks' })
    if (hasMore) output.note(`these are the newest ${limit}; for more: --limit, or --all`)
  },
}
