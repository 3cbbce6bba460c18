import { type Command, Option } from 'commander'
import { actionCommand } from '../act.ts'
import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { clean, count } from '../render/text.ts'
import { revisionOf } from '../revision.ts'

type Options = { readonly only?: 'failed' | 'all'; readonly run?: string; readonly cause?: string }

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
    const revision = ids.length === 1 ? revisionOf(ids[0] ?? '') : undefined
    if (revision === undefined) return (await tasks.run(context, ids, options)) ?? 0
    if (options.only === undefined) {
      throw new UsageError('say what of the revision is to run again', 'add --only failed or --only all')
    }
    await rerunRevision(context, revision, { ...options, only: options.only })
    return 0
  },
}

async function rerunRevision(
  { output, server, signal }: Context,
  params: { readonly name: string; readonly rev: string },
  { only, run, cause }: Options & { readonly only: 'failed' | 'all' },
): Promise<void> {
  const { client, routes } = await server()
  const body = { only, ...(run === undefined ? {} : { run }), ...(cause === undefined ? {} : { cause }) }
  const answer = await client.call(routes.runs.rerun, { params, body }, { signal })
  const columns = [
    { title: 'id', of: ({ id }: { id: string }) => id },
    { title: 'task', of: ({ key }: { key: string }) => clean(key) },
  ]
  await output.list(answer.tasks, columns, { id: ({ id }) => id, none: 'nothing to run again' })
  if (answer.tasks.length > 0) output.note(`asked again for ${count(answer.tasks.length, 'task')}`)
}
