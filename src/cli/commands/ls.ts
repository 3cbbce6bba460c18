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
      .option('--scope <scope>', 'list only this scope; `scope*` matches a prefix')
      .option('--kind <kind>', 'list only this kind')
      .option('--queue <queue>', 'list only this queue')
      .option('--limit <number>', 'list at most so many', positiveInteger, 50)
      .option('--all', 'list all')
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
