import type { Dirent } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Glob, isGlobProblem, parseGlob } from './definition/glob.ts'
import { matchPath } from './definition/match-glob.ts'

const ADMINISTRATION = new Set(['.git', '.svn'])
const LONGEST_PATH = 1000 // in bytes: the database looks it up by an index, whose entries have a limit

export type FoundFiles = {
  /** Relative to the folder, in order. */
  readonly paths: readonly string[]
  readonly bytes: number
  /** What fits a pattern and is kept out, and patterns that nothing fits; one sentence each. */
  readonly notes: readonly string[]
}

export type FileLimits = { readonly count: number; readonly bytes: number }

/** What a task wants to leave behind cannot be kept. */
export class ArtifactsRefused extends Error {
  readonly code = 'artifacts_refused'
}

/**
 * The plain files below a folder that fit the patterns. Nothing outside of it is looked at: links are not followed, and
 * patterns cannot leave it. Throws `ArtifactsRefused` for a pattern that cannot be used and for more than the limits.
 */
export async function findFiles(root: string, patterns: readonly string[], limits: FileLimits): Promise<FoundFiles> {
  const globs = patterns.map((text) => ({ text, glob: read(text), hasFound: false }))
  const paths: string[] = []
  const notes: string[] = []
  let bytes = 0
  const take = async (path: string, entry: Dirent) => {
    const fitting = globs.filter(({ glob }) => matchPath(glob, path))
    if (fitting.length === 0) return
    for (const one of fitting) one.hasFound = true
    if (!entry.isFile()) {
      notes.push(`${path} is ${entry.isSymbolicLink() ? 'a link' : 'no plain file'} and is not kept`)
      return
    }
    if (Buffer.byteLength(path) > LONGEST_PATH)
      throw new ArtifactsRefused(`the path ${path.slice(0, 100)}… is too long`)
    paths.push(path)
    bytes += (await lstat(join(root, path)).catch(unreadable(path))).size
    if (paths.length > limits.count)
      throw new ArtifactsRefused(`more than ${limits.count} files fit ${patterns.join(', ')}`)
    if (bytes > limits.bytes)
      throw new ArtifactsRefused(
        `the files that fit ${patterns.join(', ')} hold more than ${limits.bytes} bytes, with ${path}`,
      )
  }
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(unreadable(folder))
    for (const entry of entries) {
      if (folder === '' && ADMINISTRATION.has(entry.name)) continue
      const path = `${folder}${entry.name}`
      if (!entry.isDirectory()) await take(path, entry)
      else if (globs.some(({ glob }) => matchPath(glob, `${path}/`))) await walk(`${path}/`)
    }
  }
  await walk('')
  const idle = globs.filter(({ hasFound }) => !hasFound).map(({ text }) => `no file fits ${text}`)
  return { paths: paths.sort(), bytes, notes: [...notes, ...idle] }
}

/** Files that nobody may read, and names that are no text. */
export const unreadable = (path: string) => (error: NodeJS.ErrnoException) => {
  throw new ArtifactsRefused(`${path} cannot be read: ${error.code ?? error.message}`)
}

function read(text: string): Glob {
  const glob = parseGlob(text)
  if (isGlobProblem(glob)) throw new ArtifactsRefused(`artifacts "${text}" cannot be meant: ${glob.message}`)
  return glob
}

/** Throws unless the folder is still where it was: a command could have put a link to elsewhere in its place. */
export async function checkPlace(folder: string, place: string): Promise<void> {
  const now = await realpath(folder).catch(() => undefined)
  if (now !== place) throw new ArtifactsRefused('the workspace was moved away, and its artifacts cannot be trusted')
}
