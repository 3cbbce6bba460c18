import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { CommandFile } from '../command.ts'
import { diffLines } from '../diff-lines.ts'

type Written = { readonly path: string; readonly state: 'written' | 'same' | 'kept' }

const CONFIG = `# Settings of Millrace for this folder and those below. \`millrace config explain\` lists all of them.
# port: 7420
# concurrency: 64
`

/** Writes what a repository begins with: settings and a workflow file. What is there already is never overwritten. */
export const init: CommandFile = {
  usage: '[FOLDER]',
  examples: ['millrace init', 'millrace init my-archive --json'],
  prints: 'change',
  define: (command) => void command.argument('[folder]', 'the root of the repository (default: here)'),
  async run(context, [folder = '.']) {
    const { output, world } = context
    const root = resolve(world.workingDirectory ?? process.cwd(), folder)
    const { starter } = await context.workflowTools()
    const { connection } = await context.server()
    const wanted = {
      'millrace.config.yaml': CONFIG,
      [join('_workflows', 'hello.yaml')]: starter(`${connection.url}/schemas/workflow.v1.json`),
    }
    const files: Written[] = []
    const differences: string[] = []
    for (const [path, text] of Object.entries(wanted)) {
      const there = await writeUnlessThere(join(root, path), text)
      files.push({
        path: join(folder, path),
        state: there === undefined ? 'written' : there === text ? 'same' : 'kept',
      })
      if (there !== undefined && there !== text) differences.push(`--- ${path}`, ...diffLines(there, text))
    }
    const next = hookOf(root, folder)
    output.one({ files, next }, () => files.map(({ path, state }) => `${words[state]} ${path}`))
    for (const line of differences) output.note(line)
    if (differences.length > 0) output.note('what is there was kept; lines with + are what would have been written')
    output.note(
      `look at the plan with \`millrace workflow plan\`${next === null ? '' : `, then announce commits with \`${next}\``}`,
    )
  },
}

const words = { written: 'wrote', same: 'unchanged', kept: 'kept' } as const satisfies Record<Written['state'], string>

/** What is there already, untouched; undefined: nothing was, and the file is written. */
async function writeUnlessThere(path: string, text: string): Promise<string | undefined> {
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(path, text, { flag: 'wx' })
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return readFile(path, 'utf8')
  }
}

/** The command that has this repository announce its commits; null where it is none that has hooks of its own. */
function hookOf(root: string, folder: string): string | null {
  if (!existsSync(join(root, '.git'))) return null
  const archive = basename(root).replaceAll(/[^\w.-]/g, '-')
  return `millrace hook install --git ${folder} --archive ${archive}`
}
