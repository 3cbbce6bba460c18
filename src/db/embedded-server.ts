import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastLines, type Place, SERVER_ENV } from './embedded-cluster.ts'
import { EmbeddedUnusable } from './embedded-errors.ts'
import { endAll, holderSetting } from './embedded-orphans.ts'

const READY_MS = 120_000 // replaying the log of a long outage takes its time
const FAST_MS = 30_000
const LOG_LIMIT = 10_000_000

export type ServerOptions = {
  place: Place
  native: string
  logFile: string
  socketDir: string
  settings: Readonly<Record<string, string | number>>
}

export type Server = { readonly child: ChildProcess; readonly ended: Promise<void> }

/** Starts the server and answers when it takes connections; throws with the end of its log when it does not. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const logStart = rotateLog(options.logFile)
  const log = openSync(options.logFile, 'a', 0o600)
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(
    join(options.native, 'bin', 'postgres'),
    [
      '-D',
      options.place.cluster,
      '-k',
      options.socketDir,
      '-c',
      'listen_addresses=',
      '-c',
      holderSetting(),
      ...settings,
    ],
    // In a session of its own: Ctrl-C in the terminal reaches the parent alone, which drains before it
    // stops the database.
    { cwd: '/', env: SERVER_ENV, stdio: ['ignore', log, log], detached: true, ...options.place.owner },
  )
  closeSync(log)
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  if (await isReady(options.place.cluster, child)) return { child, ended }
  child.kill('SIGQUIT')
  await ended
  const said = readFileSync(options.logFile).subarray(logStart).toString('utf8')
  throw new EmbeddedUnusable(
    `the embedded database did not start: ${lastLines(said, 3) || 'it said nothing'}`,
    `look at ${options.logFile}`,
  )
}

/** The server says in its lock file when it takes connections; asking it by connecting would fill its log. */
async function isReady(cluster: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + READY_MS
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    const [pid, , , , , , , status] = readLines(join(cluster, 'postmaster.pid'))
    if (Number(pid) === child.pid && status?.trim() === 'ready') return true
    await sleep(15)
  }
  return false
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Keeps one earlier log when this one has grown; answers where the next start's lines begin. */
function rotateLog(file: string): number {
  try {
    const { size } = statSync(file)
    if (size < LOG_LIMIT) return size
    renameSync(file, `${file}.1`)
  } catch {
    // There is none yet.
  }
  return 0
}

/** Stops the server: it rolls back what is open and writes a checkpoint; if that takes too long it is cut off. */
export async function stopServer(server: Server, cluster: string): Promise<void> {
  server.child.kill('SIGINT')
  const timer = new AbortController()
  const late = sleep(FAST_MS, 'late', { signal: timer.signal }).catch(() => 'stopped')
  const first = await Promise.race([server.ended.then(() => 'stopped'), late])
  timer.abort()
  if (first === 'late') await endAll(cluster)
  await server.ended
}
