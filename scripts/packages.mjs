// What the tests need from the system. A missing part is installed when that is possible and named otherwise:
// no test is skipped for it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { stop } from './bootstrap.mjs'

const APACHE = '/usr/lib/apache2/modules'

/** @type {{ name: string, files: string[], use: string }[]} */
const needed = [
  { name: 'postgresql-15', files: ['/usr/lib/postgresql/15/bin/postgres'], use: 'the oldest supported server' },
  { name: 'perl-base', files: onPath('perl'), use: 'the keeper of commands' },
  { name: 'podman', files: onPath('podman'), use: 'commands in containers' },
  { name: 'runc', files: onPath('runc'), use: 'commands in containers' },
  {
    name: 'catatonit',
    files: ['/usr/libexec/podman/catatonit', ...onPath('catatonit')],
    use: 'commands in containers',
  },
  { name: 'busybox-static', files: ['/bin/busybox'], use: 'an image for containers' },
  { name: 'bsdutils', files: onPath('script'), use: 'tests at a terminal' },
  { name: 'pgbouncer', files: onPath('pgbouncer'), use: 'tests behind a transaction-pooling proxy' },
  { name: 'git', files: onPath('git'), use: 'git repositories' },
  { name: 'subversion', files: onPath('svnserve'), use: 'Subversion repositories, and a server for them' },
  { name: 'sqlite3', files: onPath('sqlite3'), use: 'working copies of Subversion that were tampered with' },
  // The program alone: the package apache2 would also start a server of its own on this machine.
  { name: 'apache2-bin', files: onPath('apache2'), use: 'repositories behind HTTP' },
  { name: 'libapache2-mod-svn', files: [`${APACHE}/mod_dav_svn.so`], use: 'Subversion behind HTTP' },
  { name: 'groff', files: onPath('gropdf'), use: 'the book of the demonstration' },
  {
    name: 'chromium-headless-shell',
    files: onPath('chromium-headless-shell'),
    use: 'tests of the dashboard in a browser',
  },
  {
    name: 'fonts-dejavu-core',
    files: ['/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'],
    use: 'tests of the dashboard in a browser',
  },
  { name: 'openssl', files: onPath('openssl'), use: 'passwords of the HTTP server' },
]

/** Installs the missing system packages, or ends the process with the exact list of what to install. */
export function installPackages() {
  const missing = needed.filter(({ files }) => !files.some((file) => existsSync(file)))
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  const mayInstall = process.getuid?.() === 0 && onPath('apt-get').some((file) => existsSync(file))
  if (!mayInstall || !aptGet(names)) {
    const lines = missing.map(({ name, use }) => `  ${name}: ${use}`)
    stop(`the tests need these packages:\n${lines.join('\n')}\ninstall them: sudo apt-get install ${names.join(' ')}`)
  }
}

/** @param {string[]} names */
function aptGet(names) {
  process.stderr.write(`installing ${names.join(' ')} …\n`)
  const patient = ['-o', 'DPkg::Lock::Timeout=900']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return [
    [...patient, 'update'],
    [...patient, 'install', '-y', '--no-install-recommends', ...names],
  ].every((args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 2, 2] }).status === 0)
}

/** @param {string} command */
function onPath(command) {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, command))
}
