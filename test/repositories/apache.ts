// A real Apache with Subversion's module and git's CGI program behind one user and password.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDaemon } from './daemon.ts'
import { hands as gitHands, initBare } from './git.ts'
import { folder, type Ground, type Plain, say } from './ground.ts'
import { hands as svnHands } from './svn.ts'

const USER = 'www-data' // Debian's own, for when the tests run as root
const PASSWORD = 'the secret of alice'
const isRoot = process.getuid?.() === 0

/** Repositories of one type behind a server of their own. */
export async function startApache(type: 'svn' | 'git'): Promise<Ground> {
  const place = await folder()
  await chmod(place.path, 0o755)
  for (const name of ['svn', 'git', 'logs']) await mkdir(join(place.path, name))
  const hashed = await say('openssl', ['passwd', '-apr1', PASSWORD])
  await writeFile(join(place.path, 'users'), `alice:${hashed}`)
  const server = await startDaemon(async (port) => {
    const file = join(place.path, 'httpd.conf')
    await writeFile(file, configuration(place.path, port))
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }
    return spawn('/usr/sbin/apache2', ['-f', file, '-D', 'FOREGROUND'], { env, stdio: 'ignore' })
  })
  const stop = async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  }
  const create = type === 'svn' ? createSvn : createGit
  return {
    create: (name = randomUUID()) => create(place.path, name, `http://127.0.0.1:${server.port}`),
    [Symbol.asyncDispose]: stop,
  }
}

const credentials = { username: 'alice', password: PASSWORD }

async function createSvn(place: string, name: string, server: string) {
  const path = join(place, 'svn', name)
  await say('svnadmin', ['create', path])
  await giveAway(path)
  const url = `${server}/svn/${encodeURIComponent(name)}`
  return {
    options: { type: 'svn' as const, url, credentials },
    path,
    commit: onDisk(svnHands(`file://${place}/svn/${encodeURIComponent(name)}`, [], path), path),
  }
}

async function createGit(place: string, name: string, server: string) {
  const path = join(place, 'git', name)
  await initBare(path)
  await giveAway(path)
  const url = `${server}/git/${encodeURIComponent(name)}`
  return {
    options: { type: 'git' as const, url, branch: 'main', credentials },
    path,
    commit: onDisk(gitHands(path), path),
  }
}

/** The person works on the server's own disk, which is quicker. */
function onDisk(commit: Plain['commit'], path: string): Plain['commit'] {
  return async (edit, message, author) => {
    await commit(edit, message, author)
    await giveAway(path)
  }
}

/** The server works as another user when it was started by root. */
async function giveAway(path: string): Promise<void> {
  if (isRoot) await say('chown', ['-R', `${USER}:${USER}`, path])
}

function configuration(place: string, port: number): string {
  const modules = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'env']
  const loaded = [...modules, 'alias', 'cgid', 'dav', 'dav_svn']
  return `ServerRoot ${place}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${place}/logs/pid
ErrorLog ${place}/logs/error
DefaultRuntimeDir ${place}/logs
${isRoot ? `User ${USER}\nGroup ${USER}` : ''}
${loaded.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ScriptSock ${place}/logs/cgisock
SVNUseUTF8 On
<Location />
  AuthType Basic
  AuthName millrace
  AuthUserFile ${place}/users
  Require valid-user
</Location>
<Location /svn>
  DAV svn
  SVNParentPath ${place}/svn
</Location>
SetEnv GIT_PROJECT_ROOT ${place}/git
SetEnv GIT_HTTP_EXPORT_ALL
ScriptAlias /git/ /usr/lib/git-core/git-http-backend/
`
}
