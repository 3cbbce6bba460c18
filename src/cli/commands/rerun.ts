import { type Command, Option } from 'commander'
import { actionCommand } from '../act.ts'
import type { CommandFile } from '../command.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { rerunRevision } from '../rerun-revision.ts'
import { revisionOf } from '../revision.ts'

type Options = {
  readonly only?: 'failed' | 'all'
  readonly run?: string
  readonly cause?: string
  readonly filter?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

const tasks = actionCommand({
  verb: 'rerun',
  past: 'run again',
  isDestructive: false,
  next: 'watch with `millrace watch ID`',
  examples: ['millrace rerun My-Project@12:index', 'millrace rerun My-Project@12 --only failed'],
})

/** Runs again tasks that succeeded; or, of a whole revision, what failed or everything. */
export const rerun: CommandFile = {
  ...tasks,
  usage: `${tasks.usage} [--only WHICH] [--run RUN]`,
  define(command: Command) {
    tasks.define?.(command)
    command
      .addOption(
        new Option('--only <which>', 'of a revision: what failed, or all that is over').choices(['failed', 'all']),
      )
      .option('--run <run>', 'of a revision: a run by hand or schedule (default: what the commit started)')
  },
  async run(context, ids, options: Options): Promise<number> {
    const { only, run } = options
    const revision = ids.length === 1 && options.filter === undefined ? revisionOf(ids[0] ?? '') : undefined
    if (revision === undefined) {
      if (only !== undefined || run !== undefined) {
        throw new UsageError('--only and --run are for one revision', 'give it alone: My-Project@12 --only failed')
      }
      return (await tasks.run(context, ids, options)) ?? exitCodes.done
    }
    if (only === undefined) {
      throw new UsageError('say what of the revision is to run again', 'add --only failed or --only all')
    }
    await rerunRevision(context, revision, { ...options, only })
    return exitCodes.done
  },
}
