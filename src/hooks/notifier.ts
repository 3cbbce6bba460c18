// The script that announces, what it has to know, and how it is asked here the way a hook would.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { HookRefused } from './errors.ts'
import type { HookedRepository, Owner } from './repository.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('notify.sh', import.meta.url))
const USUAL = ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin', '/usr/sbin', '/sbin']
const SENDERS = ['curl', 'wget', 'perl', 'bash']
const ENCRYPTING = ['curl', 'wget']
const PATIENCE_MS = 60_000 // four programs that each wait for an answer

export type Told = {
  readonly archive: string
  /** Where the server is, as seen from the host of the repository. */
  readonly url: string
  /** The branch that is the archive; of git. */
  readonly branch: string | undefined
}

/** The folder of an archive among those of the repository: readable where the name is, and never `..`. */
export function folderOf({ folder }: HookedRepository, archive: string): string {
  const plain = encodeURIComponent(archive).replace(/^\./, '%2E')
  const short =
    plain.length <= 100 ? plain : `${plain.slice(0, 60)}~${createHash('sha256').update(archive).digest('hex')}`
  return join(folder, short)
}

export const readScript = () => readFile(SCRIPT, 'utf8')

/** Their text, for the folder with this inode: a copy of the folder has another one. */
export type Settings = (inode: string) => string

/** What the script has to know, as assignments of a shell. Throws `HookRefused` where nothing here could send. */
export async function settingsFor({ kind, isShared }: HookedRepository, told: Told): Promise<Settings> {
  const url = new URL(told.url)
  if (url.username !== '' || url.password !== '') {
    throw new HookRefused('the address of the server holds a password', 'leave it out: the hook has a token')
  }
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const folders = await searchPath(scheme)
  const prefix = url.pathname.replace(/\/+$/, '')
  const values = {
    archive: encodeURIComponent(told.archive),
    base: `${url.origin}${prefix}`,
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (scheme === 'https' ? '443' : '80'),
    prefix,
    branch: kind === 'git' ? (told.branch ?? '') : '',
    path: folders.join(':'),
    mask: isShared ? '007' : '077',
  }
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quote(value)}\n`)
  return (inode) => `# for notify; written by \`millrace hook install\`\n${lines.join('')}inode=${quote(inode)}\n`
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Where the programs are that whoever installs finds, and where they usually are: a hook is given no PATH. */
async function searchPath(scheme: 'http' | 'https'): Promise<string[]> {
  const wanted = [...SENDERS, 'git', 'date', 'readlink']
  const look = `PATH="$PATH:${USUAL.join(':')}"; for program in ${wanted.join(' ')}; do command -v "$program"; done; :`
  const { stdout } = await run('/bin/sh', ['-c', look])
  const found = stdout.split('\n').filter((path) => path.startsWith('/'))
  const canSend = SENDERS.some(
    (sender) => (scheme === 'http' || ENCRYPTING.includes(sender)) && found.some((path) => path.endsWith(`/${sender}`)),
  )
  if (!canSend) {
    const names = scheme === 'https' ? ENCRYPTING : SENDERS
    throw new HookRefused(`nothing on this host could send a notice by ${scheme}`, `install one of ${names.join(', ')}`)
  }
  return [...new Set([...found.map(dirname), '/usr/bin', '/bin'])].filter((folder) => !folder.includes(':'))
}

export type Asked = { readonly status: number; readonly sender: string }

/** Asks the server who the token is, with nothing but what a hook has. */
export async function check(folder: string, owner: Owner): Promise<Asked> {
  const [status = '', sender = ''] = (await runBare([join(folder, 'notify'), 'check'], owner)).trim().split(' ')
  return { status: Number(status), sender }
}

/** Sends what could not be sent before. */
export async function flush(folder: string, owner: Owner): Promise<{ sent: number; left: number }> {
  const [sent = 0, left = 0] = (await runBare([join(folder, 'notify'), 'flush'], owner)).trim().split(' ').map(Number)
  return { sent, left }
}

/** Runs /bin/sh as Subversion runs hooks: without an environment, and as the user to whom the repository belongs. */
export function runBare(args: readonly string[], owner: Owner): Promise<string> {
  const isRoot = process.getuid?.() === 0
  return new Promise((resolve, reject) => {
    const options = { env: {}, cwd: '/', timeout: PATIENCE_MS, ...(isRoot ? owner : {}) }
    const child = execFile('/bin/sh', [...args], options, (error, stdout) => (error ? reject(error) : resolve(stdout)))
    child.stdin?.end()
  })
}
