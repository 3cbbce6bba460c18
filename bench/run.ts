// Measures the claims side by side and writes the results. Usage: see README.md.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { install } from './harness/install.ts'

const folder = import.meta.dirname

const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    without: { type: 'string', default: '' },
    out: { type: 'string' },
    strict: { type: 'boolean', default: false },
  },
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const databaseUrl = process.env['MILLRACE_BENCH_DATABASE_URL']
const { bin, node } = install(folder, databaseUrl === undefined)

// Loaded after the installation, because it imports the driver from what was installed.
const { measure } = await import('./harness/measure.ts')
const isBuilt = existsSync(process.env['MILLRACE_BENCH_LIBRARY'] ?? join(folder, '..', 'dist', 'index.js'))
if (!isBuilt) console.log('dist/index.js is missing: only the peers are measured (npm run build)')

const { results, circumstances } = await measure({
  folder,
  bin,
  node,
  databaseUrl,
  names: positionals,
  rounds: Number(options.rounds),
  isQuick: options.quick,
  minutes: options.minutes === undefined ? undefined : Number(options.minutes),
  without: [...options.without.split(','), ...(isBuilt ? [] : ['millrace'])],
})

const isWhole = positionals.length === 0 && !options.quick && options.without === ''
const out = options.out ?? join(folder, isWhole ? 'results.md' : 'results.partial.md')
const { report } = await import('./harness/report.ts')
const page = report(results, {
  ...circumstances,
  date: new Date().toISOString().slice(0, 16).replace('T', ' '),
  rounds: Number(options.rounds),
  command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
  node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
  ownPostgres: databaseUrl === undefined,
  versions: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies,
})
writeFileSync(out, page)
console.log(`\n${page}\nwritten to ${relative(process.cwd(), out)}`)

const missed = results.flatMap((result) => result.verdicts).filter((verdict) => verdict.held === false)
if (options.strict && missed.length > 0) process.exitCode = 1
