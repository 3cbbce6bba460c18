import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDaemon } from './daemon.ts'
import { folder, type Ground, type Plain, say } from './ground.ts'

export { freePort } from './daemon.ts'

const quiet = ['--non-interactive', '--no-auth-cache', '--quiet']

/** A person with a checkout who commits the way people do: with `svn add` and `svn rm`. */
export function hands(url: string, login: readonly string[], place: string): Plain['commit'] {
  const copy = `${place}.copy`
  const isFree = login.length === 0
  return async (edit, message, author) => {
    const as = isFree && author ? ['--username', author] : login
    await say('svn', ['checkout', ...quiet, ...as, '--ignore-externals', `${url}@`, copy])
    await edit(copy)
    const status = await say('svn', ['status', '--quiet', `${copy}@`])
    const marked = (mark: string) =>
      [...status.matchAll(/^([!~]) {7}(.*)$/gm)].filter(([, one]) => one === mark).map(([, , path]) => `${path}@`)
    const [missing, replaced] = [marked('!'), marked('~')]
    if (missing.length > 0) await say('svn', ['delete', '--quiet', '--force', ...missing])
    if (replaced.length > 0) await say('svn', ['delete', '--quiet', '--force', '--keep-local', ...replaced])
    await say('svn', ['add', '--quiet', '--force', '--no-ignore', `${copy}@`])
    await say('svn', ['commit', ...quiet, ...as, '--force-log', '-m', message, `${copy}@`])
  }
}

/** Repositories on the local disk, by `file://`. */
export async function svnFiles(): Promise<Ground> {
  const place = await folder()
  return {
    async create(name = randomUUID()) {
      const path = join(place.path, name)
      await say('svnadmin', ['create', path])
      const url = `file://${place.path}/${encodeURIComponent(name)}`
      const plain: Plain = {
        options: { type: 'svn', url },
        path,
        commit: hands(url, [], path),
      }
      return plain
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}

/** Repositories behind a real svnserve; everybody reads, alice writes. */
export async function svnServe(): Promise<Ground> {
  const place = await folder()
  const server = await startDaemon(async (port) => {
    const where = ['--root', place.path, '--listen-host', '127.0.0.1', '--listen-port', String(port)]
    const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' }
    return spawn('svnserve', ['--daemon', '--foreground', ...where], { env, stdio: 'ignore' })
  })
  return {
    async create(name = randomUUID()) {
      const path = join(place.path, name)
      await say('svnadmin', ['create', path])
      const general = ['[general]', 'anon-access = read', 'auth-access = write', 'password-db = passwd', '']
      await writeFile(join(path, 'conf', 'svnserve.conf'), general.join('\n'))
      await writeFile(join(path, 'conf', 'passwd'), '[users]\nalice = the secret of alice\n')
      const url = `svn://127.0.0.1:${server.port}/${encodeURIComponent(name)}`
      const login = ['--username', 'alice', '--password', 'the secret of alice']
      const credentials = { username: 'alice', password: 'the secret of alice' }
      return {
        options: { type: 'svn', url, credentials },
        path,
        commit: hands(url, login, path),
      }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** Puts a hook into a repository on the local disk. */
export async function writeHook(file: string, script: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
}
