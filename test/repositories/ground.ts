import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { OpenOptions } from '../../src/vcs/index.ts'

const execute = promisify(execFile)

/** A place where repositories of one kind are reached in one way. */
export type Ground = AsyncDisposable & {
  /** A new, empty repository, of that name where one is given. */
  create(name?: string): Promise<Plain>
}

/** One repository, and a person who works in it with nothing but the usual program. */
export type Plain = {
  readonly options: Omit<OpenOptions, 'cacheDir'>
  /** Where it lies on the disk of the server. */
  readonly path: string
  /** Commits whatever `edit` changes in a checkout, as `author` where the repository lets one choose. */
  commit(edit: (folder: string) => Promise<unknown>, message: string, author?: string): Promise<void>
}

const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/proc/nonexistent' }

/** Runs a program as a person would; what it says, or an error with all of it. */
export async function say(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { env: { ...environment, ...env }, maxBuffer: 1 << 26 })
    return stdout
  } catch (error) {
    const { code, stdout, stderr } = error as { code: string; stdout: string; stderr: string }
    if (code === 'ENOENT') throw new Error(`${program} is not installed; npm test installs it or says how`)
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`)
  }
}

/** A folder for a whole test file. */
export async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'millrace-vcs-')))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
