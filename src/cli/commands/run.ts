import { randomUUID } from 'node:crypto'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { toInput } from '../input-pair.ts'
import { collect } from '../numbers.ts'
import { tellRun } from '../tell-run.ts'

type Options = { readonly task?: string; readonly rev?: string; readonly input?: readonly string[] }

/** Runs a workflow of an archive, or one task, by hand. */
export const runWorkflow: CommandFile = {
  usage: 'ARCHIVE [WORKFLOW] [--task NAME] [--rev REV] [--input NAME=VALUE...]',
  examples: [
    'millrace run My-Project book --input edition=final',
    'millrace run My-Project --task build-PDF --rev 12 --json',
  ],
  prints: 'change',
  define(command) {
    command
      .argument('<archive>', 'the archive')
      .argument('[workflow]', 'the workflow, by its name')
      .option('--task <name>', 'run one task instead of a workflow')
      .option('--rev <rev>', 'run at this number or commit (default: the newest planned revision)')
      .option(
        '--input <name=value>',
        'give an input of the workflow, a text: edition=final; may be given several times',
        collect,
      )
  },
  async run({ output, server, signal }, [archive = '', workflow], { task, rev, input = [] }: Options) {
    if ((workflow === undefined) === (task === undefined)) {
      throw new UsageError('say what is to run', 'name a workflow, or a task with --task, and not both')
    }
    const { client, routes } = await server()
    const body = {
      ...(task === undefined ? { workflow: workflow ?? '' } : { task }),
      ...(rev === undefined ? {} : { rev: /^[1-9]\d{0,14}$/.test(rev) ? Number(rev) : rev }),
      inputs: Object.fromEntries(input.map(toInput)),
    }
    // A repetition after a broken connection starts no second run.
    const options = { signal, idempotencyKey: randomUUID() }
    tellRun(output, await client.call(routes.runs.create, { params: { name: archive }, body }, options))
  },
}
