import type { CommandFile } from '../command.ts'

/** Prints the JSON Schema of workflow files, by which editors complete and explain them. */
export const workflowSchema: CommandFile = {
  usage: '',
  examples: ['millrace workflow schema', 'millrace workflow schema > schemas/workflow.v1.json'],
  prints: 'one',
  async run(context) {
    const { schema } = await context.workflowTools()
    const json = schema()
    context.output.one(json, () => [JSON.stringify(json, null, 2)])
  },
}
