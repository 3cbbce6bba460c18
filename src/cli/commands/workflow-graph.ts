import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import type { GraphFormat } from '../host.ts'
import { PATHS, readWorkflowFiles } from '../workflow-files.ts'

/** Draws the tasks of workflow files and what they wait for. */
export const workflowGraph: CommandFile = {
  usage: '[PATH...] [--format FORMAT]',
  examples: ['millrace workflow graph', 'millrace workflow graph _workflows --format svg > tasks.svg'],
  prints: 'one',
  define(command) {
    const formats: readonly GraphFormat[] = ['text', 'mermaid', 'dot', 'svg']
    command
      .argument('[path...]', PATHS)
      .addOption(new Option('--format <format>', 'format of the drawing').choices([...formats]).default('text'))
  },
  async run(context, paths, { format }: { format: GraphFormat }) {
    const tools = await context.workflowTools()
    const drawing = tools.graph(await readWorkflowFiles(context, paths), format)
    context.output.one({ format, drawing }, () => [drawing.trimEnd()])
  },
}
