import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Bench } from './bench.ts'

/** Runs a SQL file of the bench in a store, with psql. */
export function load(bench: Bench, url: string, file: string, variables: Record<string, number>): void {
  const given = Object.entries(variables).flatMap(([name, value]) => ['-v', `${name}=${value}`])
  const args = ['-q', '-v', 'ON_ERROR_STOP=1', ...given, '-f', join(import.meta.dirname, '..', file), url]
  execFileSync(join(bench.bin, 'psql'), args, { stdio: ['ignore', 'ignore', 'inherit'] })
}
