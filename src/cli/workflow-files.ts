import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Context } from './context.ts'
import { UsageError } from './exit.ts'
import type { WorkflowFile } from './host.ts'
import { readAll } from './prompt.ts'

const FOLDER = '_workflows'

export const PATHS = `workflow files, folders, or - for standard input (default: ${FOLDER})`

/** The files that the arguments name, as those of one revision; paths are shown as they were given. */
export async function readWorkflowFiles(context: Context, paths: readonly string[]): Promise<WorkflowFile[]> {
  const named = paths.length > 0 ? paths : [FOLDER]
  const files = await Promise.all(named.map((path) => readPath(context, path, paths.length > 0)))
  return files.flat()
}

async function readPath(context: Context, path: string, isGiven: boolean): Promise<WorkflowFile[]> {
  if (path === '-') return [{ path: 'stdin.yaml', bytes: Buffer.from(await readAll(context)) }]
  const at = resolve(context.world.workingDirectory ?? process.cwd(), path)
  const found = await stat(at).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) {
    const remedy = isGiven ? 'name a file or a folder that is there' : 'name the files, or begin with `millrace workflow init`'
    throw new UsageError(isGiven ? `${path} cannot be read: ${found.code}` : `there is no folder ${FOLDER} here`, remedy)
  }
  if (!found.isDirectory()) return [{ path, bytes: await readFile(at) }]
  const { isWorkflowFile } = await context.workflowTools()
  const entries = await readdir(at, { withFileTypes: true })
  // The root of an archive, whose folder of workflows is meant.
  if (entries.some((entry) => entry.name === FOLDER && entry.isDirectory())) return readPath(context, join(path, FOLDER), true)
  const names = entries.filter((entry) => entry.isFile() && isWorkflowFile(entry.name)).map(({ name }) => name)
  if (names.length === 0) throw new UsageError(`there are no workflow files in ${path}`, 'they end with .yaml, .yml or .json')
  return Promise.all(names.sort().map(async (name) => ({ path: join(path, name), bytes: await readFile(join(at, name)) })))
}
