import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { waitFor } from '../processes.ts'
import { folder, type Ground, type Plain, say } from './ground.ts'

const quiet = ['--non-interactive', '--no-auth-cache', '--quiet']

/** A person with a checkout who commits the way people do: with `svn add` and `svn rm`. */
export function hands(url: string, login: readonly string[], place: string): Plain['commit'] {
  const copy = `${place}.copy`
  const isFree = login.length === 0
  return async (edit, message, author) => {
    const as = isFree && author ? ['--username', author] : login
    await say('svn', ['checkout', ...quiet, ...as, '--ignore-externals', url, copy])
    await edit(copy)
    const status = await say('svn', ['status', '--quiet', copy])
    const marked = (mark: string) =>
      [...status.matchAll(/^([!~]) {7}(.*)$/gm)].filter(([, one]) => one === mark).map(([, , path]) => `${path}@`)
    const [missing, replaced] = [marked('!'), marked('~')]
    if (missing.length > 0) await say('svn', ['delete', '--quiet', '--force', ...missing])
    if (replaced.length > 0) await say('svn', ['delete', '--quiet', '--force', '--keep-local', ...replaced])
    await say('svn', ['add', '--quiet', '--force', '--no-ignore', `${copy}@`])
    await say('svn', ['commit', ...quiet, ...as, '--force-log', '-m', message, copy])
  }
}

/** Repositories on the local disk, by `file://`. */
export async function svnFiles(): Promise<Ground> {
  const place = await folder()
  return {
    async create() {
      const path = join(place.path, randomUUID())
      await say('svnadmin', ['create', path])
      const url = `file://${path}`
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
  const port = await freePort()
  const where = ['--listen-host', '127.0.0.1', '--listen-port', String(port)]
  const server = spawn('svnserve', ['--daemon', '--foreground', '--root', place.path, ...where], { stdio: 'ignore' })
  const ended = new Promise((resolve) => server.once('close', resolve))
  await waitFor(() => canConnect(port))
  return {
    async create() {
      const name = randomUUID()
      const path = join(place.path, name)
      await say('svnadmin', ['create', path])
      const general = ['[general]', 'anon-access = read', 'auth-access = write', 'password-db = passwd', '']
      await writeFile(join(path, 'conf', 'svnserve.conf'), general.join('\n'))
      await writeFile(join(path, 'conf', 'passwd'), '[users]\nalice = the secret of alice\n')
      const url = `svn://127.0.0.1:${port}/${name}`
      const login = ['--username', 'alice', '--password', 'the secret of alice']
      const credentials = { username: 'alice', password: 'the secret of alice' }
      return {
        options: { type: 'svn', url, credentials },
        path,
        commit: hands(url, login, path),
      }
    },
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await ended
      await place[Symbol.asyncDispose]()
    },
  }
}

/** A port that nobody uses at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

export function canConnect(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (answer: true | undefined) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(undefined))
  })
}

/** Puts a hook into a repository on the local disk. */
export async function writeHook(file: string, script: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
}
