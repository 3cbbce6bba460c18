import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import type { AskedPlan } from '../host.ts'
import { toInput } from '../input-pair.ts'
import { collect } from '../numbers.ts'
import { PATHS, readWorkflowFiles } from '../workflow-files.ts'

type Options = {
  readonly archive: string
  readonly rev: string
  readonly assumePrev: AskedPlan['previous']
  readonly author?: string
  readonly message?: string
  readonly branch?: string
  readonly changed?: readonly string[]
  readonly schedule?: string
  readonly workflow?: string
  readonly task?: string
  readonly input?: readonly string[]
}

/** Shows what a commit, or another run at a revision, would do: its tasks, what they wait for and what they cancel. */
export const workflowPlan: CommandFile = {
  usage: `[PATH...] [--archive NAME] [--rev REVISION] [--assume-prev HOW] [--author NAME] [--message TEXT] [--branch NAME] [--changed PATH] [--schedule WORKFLOW] [--workflow NAME] [--task NAME] [--input PAIR]`,
  examples: [
    'millrace workflow plan --rev 3 --changed chapters/1.md',
    'millrace workflow plan --archive My-Project --rev 12 --task build-PDF --input edition=final',
  ],
  prints: 'one',
  define(command) {
    command
      .argument('[path...]', PATHS)
      .option('--archive <name>', 'the archive', 'archive')
      .option('--rev <revision>', 'the revision', '2')
      .addOption(
        new Option('--assume-prev <how>', 'how far the revision before is, with the same files')
          .choices(['running', 'over', 'none'])
          .default('running'),
      )
      .option('--author <name>', 'who made the commit')
      .option('--message <text>', 'what the commit says')
      .option('--branch <name>', 'the branch')
      .option('--changed <path>', 'a path that the commit changed; may be given several times', collect)
      .option('--schedule <workflow>', 'plan a run of this workflow by its schedule, not the commit')
      .option('--workflow <name>', 'plan a run of this workflow by hand')
      .option('--task <name>', 'plan a run of this task by hand')
      .option('--input <pair>', 'NAME=VALUE for a run by hand; may be given several times', collect)
  },
  async run(context, paths, options: Options) {
    const { archive, rev, author = '', message = '', branch = '', changed = [], assumePrev } = options
    const tools = await context.workflowTools()
    const files = await readWorkflowFiles(context, paths)
    const asked = {
      archive,
      rev,
      author,
      message,
      branch,
      changedPaths: changed,
      previous: assumePrev,
      now: new Date(),
    }
    const { text, json } = tools.plan(files, { ...asked, trigger: triggerOf(options) })
    context.output.one(json, () => [text.trimEnd()])
  },
}

function triggerOf({ schedule, workflow, task, input = [] }: Options): AskedPlan['trigger'] {
  const given = [schedule, workflow, task].filter((name) => name !== undefined)
  if (given.length > 1)
    throw new UsageError('only one of --schedule, --workflow and --task can be planned', 'choose one of them')
  const inputs = Object.fromEntries(input.map(toInput))
  if (workflow !== undefined) return { type: 'manual', run: 'manual', workflow, inputs }
  if (task !== undefined) return { type: 'manual', run: 'manual', task, inputs }
  if (input.length > 0) throw new UsageError('an input is for a run by hand', 'add --workflow or --task')
  return schedule === undefined ? { type: 'commit' } : { type: 'schedule', run: 'schedule', workflow: schedule }
}
