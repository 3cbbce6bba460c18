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

/** A person with a clone who commits all that is different in it and pushes. */
export function hands(url: string, place: string): Plain['commit'] {
  const copy = `${place}.copy`
  return async (edit, message, author = 'alice') => {
    const run = (...args: string[]) => say('git', ['-C', copy, ...args], person(author))
    const isNew = await mkdir(copy).then(
      () => true,
      () => false,
    )
    if (isNew) await run('init', '--quiet', '--initial-branch=main')
    // The first time there may be nothing to pull.
    await run('pull', '--quiet', '--no-rebase', '--ff-only', url, 'main').catch(() => {})
    await edit(copy)
    await run('add', '--all', '--force')
    await run('commit', '--quiet', '--cleanup=verbatim', '-m', message)
    await run('push', '--quiet', url, 'main')
  }
}

export const initBare = (path: string) => say('git', ['init', '--quiet', '--bare', '--initial-branch=main', path])

/** Bare repositories on the local disk, by their path. */
export async function gitFiles(): Promise<Ground> {
  const place = await folder()
  return {
    async create() {
      const path = join(place.path, `${randomUUID()}.git`)
      await initBare(path)
      return {
        options: { type: 'git', url: path, branch: 'main' },
        path,
        commit: hands(path, path),
      }
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}
