import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folder, type Ground, type Plain, say } from './ground.ts'

const person = (name: string) => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: `${name}@example.org`,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: `${name}@example.org`,
  GIT_CONFIG_NOSYSTEM: '1',
  // Repositories that belong to a server's user.
  GIT_CONFIG_GLOBAL: fileURLToPath(new URL('gitconfig', import.meta.url)),
})

/** Git in a folder, as a person types it. */
export const git = (place: string, ...args: string[]) => say('git', ['-C', place, ...args], person('alice'))

/** A person with a work tree beside the repository itself, who commits all that is different in it to `main`. */
export function hands(path: string): Plain['commit'] {
  const copy = `${path}.copy`
  const place = { GIT_DIR: path, GIT_WORK_TREE: copy, GIT_INDEX_FILE: `${copy}.index` }
  return async (edit, message, author = 'alice') => {
    const run = (...args: string[]) => say('git', args, { ...person(author), ...place })
    await mkdir(copy, { recursive: true })
    // Before the first commit there is nothing to begin from.
    await run('reset', '--quiet', '--hard').catch(() => {})
    await edit(copy)
    await run('add', '--all', '--force')
    await run('commit', '--quiet', '--cleanup=verbatim', '-m', message)
  }
}

export const initBare = (path: string) => say('git', ['init', '--quiet', '--bare', '--initial-branch=main', path])

/** Bare repositories on the local disk, by their path. */
export async function gitFiles(): Promise<Ground> {
  const place = await folder()
  return {
    async create(name = randomUUID()) {
      const path = join(place.path, name)
      await initBare(path)
      return {
        options: { type: 'git', url: path, branch: 'main' },
        path,
        commit: hands(path),
      }
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}
