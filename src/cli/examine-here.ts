// What `millrace doctor` looks at on this machine.
import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../config/index.ts'
import type { Finding } from './host.ts'

const run = promisify(execFile)
const OLDEST_NODE = [20, 19] as const
const LEAST_BYTES = 1_000_000_000
const PATIENCE_MS = 5_000

const good = (check: string, evidence: string): Finding => ({ check, state: 'good', evidence, fix: null })

/** Node, disk, the programs that tasks may need, and the rules of time zones. */
export async function examineHere(config: Config): Promise<Finding[]> {
  return Promise.all([
    examineNode(process.versions.node),
    examineDisk('disk', config.data),
    examineDisk('temp', tmpdir()),
    examineProgram(
      'perl',
      ['-e', 'print $^V'],
      'commands run under a keeper that is written in Perl: install perl',
      'warning',
    ),
    examineProgram('svn', ['--version', '--quiet'], 'archives in Subversion need it: install subversion', 'unknown'),
    examineProgram('git', ['--version'], 'archives in Git need it: install git', 'unknown'),
    examineContainers(),
    examineZones(),
  ])
}

async function examineNode(version: string): Promise<Finding> {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = OLDEST_NODE
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor)
  if (!isOld) return good('node', version)
  return { check: 'node', state: 'bad', evidence: version, fix: `install Node ${OLDEST_NODE.join('.')} or newer` }
}

async function examineDisk(check: string, path: string): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(path)
    const bytes = bavail * bsize
    const evidence = `${(bytes / 1e9).toFixed(1)} GB free at ${path}`
    if (bytes >= LEAST_BYTES) return good(check, evidence)
    return { check, state: 'warning', evidence, fix: 'make room: a full disk stops the database' }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // It is made at first start.
    if (code === 'ENOENT' && dirname(path) !== path) return examineDisk(check, dirname(path))
    return { check, state: 'bad', evidence: message, fix: 'make the folder readable' }
  }
}

type Missing = 'warning' | 'unknown'

async function examineProgram(name: string, args: string[], fix: string, ifMissing: Missing): Promise<Finding> {
  try {
    const { stdout } = await run(name, args, { timeout: PATIENCE_MS })
    return good(name, stdout.trim().split('\n')[0] ?? '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const evidence = code === 'ENOENT' ? 'not found' : (message.trim().split('\n').at(-1) ?? '')
    return { check: name, state: ifMissing, evidence, fix }
  }
}

/** Either of the two will do. */
async function examineContainers(): Promise<Finding> {
  const found = await Promise.all(
    ['podman', 'docker'].map((name) => examineProgram(name, ['--version'], '', 'unknown')),
  )
  const there = found.filter(({ state }) => state === 'good')
  if (there.length > 0) return good('containers', there.map(({ evidence }) => evidence).join('; '))
  const evidence = 'neither podman nor docker found'
  return { check: 'containers', state: 'unknown', evidence, fix: 'tasks that name an image need one: install podman' }
}

/** Schedules are written for time zones: a Node without their rules would run them an hour off half of the year. */
async function examineZones(): Promise<Finding> {
  const hourIn = (zone: string, at: string) =>
    new Intl.DateTimeFormat('en', { timeZone: zone, hour: 'numeric', hourCycle: 'h23' }).format(new Date(at))
  try {
    const isRight =
      hourIn('America/New_York', '2026-07-01T12:00:00Z') === '08' &&
      hourIn('America/New_York', '2026-01-01T12:00:00Z') === '07'
    if (isRight) return good('time zones', `rules of ${process.versions['tz'] ?? 'this Node'}`)
  } catch {
    // A Node without any zones throws.
  }
  return {
    check: 'time zones',
    state: 'warning',
    evidence: 'this Node has no rules of time zones',
    fix: 'use a Node with full ICU',
  }
}
