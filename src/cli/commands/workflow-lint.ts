import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import { exitCodes } from '../exit.ts'
import type { FindingFormat } from '../host.ts'
import { PATHS, readNeighbours, readWorkflowFiles } from '../workflow-files.ts'

type Options = { readonly format: FindingFormat; readonly strict?: boolean }

/** Finds everything that is wrong with workflow files. */
export const workflowLint: CommandFile = {
  usage: '[PATH...] [--format FORMAT] [--strict]',
  examples: ['millrace workflow lint', 'millrace workflow lint _workflows/book.yaml --format sarif --strict'],
  prints: 'list',
  define(command) {
    const formats: readonly FindingFormat[] = ['text', 'json', 'sarif', 'github']
    command
      .argument('[path...]', PATHS)
      .addOption(new Option('--format <format>', 'format of the findings').choices([...formats]).default('text'))
      .option('--strict', 'treat warnings as errors')
  },
  async run(context, paths, { format, strict }: Options) {
    const { output } = context
    const tools = await context.workflowTools()
    const files = await readWorkflowFiles(context, paths)
    const { findings, print } = tools.lint(files, await readNeighbours(context, files))
    if (output.format === 'text') await output.write(Buffer.from(print(format)))
    else {
      await output.list(
        findings,
        [
          { title: 'file', of: ({ file }) => file, importance: 'key' },
          { title: 'line', of: ({ line }) => String(line) },
          { title: 'column', of: ({ column }) => String(column) },
          { title: 'severity', of: ({ severity }) => severity },
          { title: 'code', of: ({ code }) => code },
          { title: 'message', of: ({ message }) => message },
        ],
        { id: ({ file, line, column }) => `${file}:${line}:${column}`, none: '' },
      )
    }
    const counts = findings.some(({ severity }) => severity === 'error' || strict)
    return counts ? exitCodes.findings : exitCodes.done
  },
}
