import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'

const FILE = '_workflows/hello.yaml'

/** Writes a workflow file to begin with. */
export const workflowInit: CommandFile = {
  usage: '[FOLDER] [--schema ADDRESS]',
  examples: ['millrace workflow init', 'millrace workflow init my-archive --schema ../schemas/workflow.v1.json'],
  prints: 'change',
  define(command) {
    command
      .argument('[folder]', 'the root of the archive (default: here)')
      .option('--schema <address>', 'where editors find the JSON Schema (default: at the server)')
  },
  async run(context, [folder = '.'], { schema }: { schema?: string }) {
    const { starter } = await context.workflowTools()
    const address = schema ?? `${(await context.server()).connection.url}/schemas/workflow.v1.json`
    const path = join(folder, FILE)
    const at = resolve(context.world.workingDirectory ?? process.cwd(), path)
    await mkdir(resolve(at, '..'), { recursive: true })
    await writeFile(at, starter(address), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw new UsageError(`${path} is there already`, 'change that one, or move it away')
      throw error
    })
    context.output.one({ path }, () => [`wrote ${path}; look at it with \`millrace workflow plan\``])
  },
}
