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
    const status = await say('svn', ['status', '--no-ignore', `${copy}@`])
    const marked = (mark: string) =>
      [...status.matchAll(/^([!~]) {7}(.*)$/gm)].filter(([, one]) => one === mark).map(([, , path]) => `${path}@`)
    const [missing, replaced] = [marked('!'), marked('~')]
    if (missing.length > 0) await say('svn', ['delete', '--quiet', '--force', ...missing])
    if (replaced.length > 0) await say('svn', ['delete', '--quiet', '--force', '--keep-local', ...replaced])
    const isAnyNew = replaced.length > 0 || /^[?I] {7}/m.test(status)
    if (isAnyNew) await say('svn', ['add', '--quiet', '--force', '--no-ignore', `${copy}@`])
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

/** Loads revisions, each of which changes one file: one by one they would take minutes. */
export async function loadHistory(
  path: string,
  count: number,
  first: Readonly<Record<string, string>> = {},
): Promise<void> {
  const loading = spawn('svnadmin', ['load', '--quiet', '--no-flush-to-disk', path], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => loading.once('close', resolve))
  loading.stdin.end(dump(count, first))
  if ((await ended) !== 0) throw new Error('svnadmin could not load the history')
}

/** A dump of that many revisions; the first one also adds the given files. */
function dump(count: number, first: Readonly<Record<string, string>>): string {
  const lines = ['SVN-fs-dump-format-version: 2', '']
  const add = (path: string, text: string, action = 'add') => {
    const length = Buffer.byteLength(text)
    lines.push(`Node-path: ${path}`, 'Node-kind: file', `Node-action: ${action}`)
    lines.push(`Text-content-length: ${length}`, `Content-length: ${length}`, '', text, '')
  }
  const folders = new Set(Object.keys(first).flatMap((path) => path.split('/').slice(0, -1)))
  for (let number = 1; number <= count; number += 1) {
    const log = `revision ${number}`
    const properties = `K 7\nsvn:log\nV ${log.length}\n${log}\nPROPS-END\n`
    const { length } = properties
    lines.push(
      `Revision-number: ${number}`,
      `Prop-content-length: ${length}`,
      `Content-length: ${length}`,
      '',
      properties,
    )
    if (number === 1) {
      for (const folder of folders) lines.push(`Node-path: ${folder}`, 'Node-kind: dir', 'Node-action: add', '', '')
      for (const [path, text] of Object.entries(first)) add(path, text)
    }
    add('a.txt', `${number}\n`, number === 1 ? 'add' : 'change')
  }
  return lines.join('\n')
}
