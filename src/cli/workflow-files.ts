import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Context } from './context.ts'
import { UsageError } from './exit.ts'
import type { WorkflowFile } from './host.ts'
import { readBytes } from './prompt.ts'

const FOLDER = '_workflows'

export const PATHS = `workflow files, folders, or - for standard input (default: ${FOLDER})`

/** The files that the arguments name, as those of one revision; paths are shown as they were given. */
export async function readWorkflowFiles(context: Context, paths: readonly string[]): Promise<WorkflowFile[]> {
  const found = await Promise.all(
    paths.length > 0 ? paths.map((path) => findFiles(context, path)) : [findDefaultFiles(context)],
  )
  const byPlace = new Map(found.flat().map((path) => [placeOf(context, path), path]))
  return Promise.all([...byPlace.values()].map((path) => readWorkflowFile(context, path)))
}

/** The other files of the folders in which these lie: what they define, these may name. */
export async function readNeighbours(context: Context, files: readonly WorkflowFile[]): Promise<WorkflowFile[]> {
  const given = new Set(files.map(({ path }) => placeOf(context, path)))
  const folders = new Map(files.map(({ path }) => [dirname(placeOf(context, path)), dirname(path)]))
  const ofWorkflows = [...folders].filter(([place]) => basename(place) === FOLDER)
  const found = await Promise.all(ofWorkflows.map(([, folder]) => listFolder(context, folder)))
  const others = found.flat().filter((path) => !given.has(placeOf(context, path)))
  return Promise.all(others.map((path) => readWorkflowFile(context, path)))
}

const STANDARD_INPUT = '-'

function placeOf({ world }: Context, path: string): string {
  return path === STANDARD_INPUT ? path : resolve(world.workingDirectory ?? process.cwd(), path)
}

async function findDefaultFiles(context: Context): Promise<string[]> {
  if (!(await stat(placeOf(context, FOLDER)).catch(() => undefined))?.isDirectory())
    throw new UsageError(`there is no folder ${FOLDER} here`, 'name the files, or begin with `millrace workflow init`')
  return findFiles(context, FOLDER)
}

async function findFiles(context: Context, path: string): Promise<string[]> {
  if (path === STANDARD_INPUT) return [path]
  const found = await stat(placeOf(context, path)).catch(refuse(path))
  if (!found.isDirectory()) return [path]
  // The root of an archive, whose folder of workflows is meant.
  const inside = join(path, FOLDER)
  if ((await stat(placeOf(context, inside)).catch(() => undefined))?.isDirectory()) return findFiles(context, inside)
  const paths = await listFolder(context, path)
  if (paths.length === 0)
    throw new UsageError(`there are no workflow files in ${path}`, 'they end with .yaml, .yml or .json')
  return paths
}

async function listFolder(context: Context, folder: string): Promise<string[]> {
  const { isWorkflowFile } = await context.workflowTools()
  const entries = await readdir(placeOf(context, folder), { withFileTypes: true }).catch(refuse(folder))
  const names = entries.filter((entry) => entry.isFile() && isWorkflowFile(entry.name)).map(({ name }) => name)
  return names.sort().map((name) => join(folder, name))
}

async function readWorkflowFile(context: Context, path: string): Promise<WorkflowFile> {
  if (path === STANDARD_INPUT) return { path: 'stdin.yaml', bytes: await readBytes(context) }
  return { path, bytes: await readFile(placeOf(context, path)).catch(refuse(path)) }
}

const refuse =
  (path: string) =>
  ({ code }: NodeJS.ErrnoException): never => {
    if (code === 'ENOENT') throw new UsageError(`there is no ${path}`, 'name a file or a folder that is there')
    throw new UsageError(`${path} cannot be read (${code})`, 'look at its permissions')
  }
