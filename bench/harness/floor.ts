import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { query, settle } from './settle.ts'

const CLIENTS = 4
const FOLDER = join(import.meta.dirname, '..', 'floor')

/**
 * The rate at which the server alone can claim a hundred rows and finish them, with pgbench as the client:
 * what is left when a queue does nothing else.
 */
export async function floorRate(bench: Bench): Promise<number> {
  const count = bench.sizes.drain
  const url = await rows(bench, count)
  const each = Math.ceil(count / 100 / CLIENTS)
  const load = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', '2', '-t', String(each)]
  const output = run(bench.bin, 'pgbench', [...load, '-f', join(FOLDER, 'round.sql'), url])
  const tps = Number(/^tps = ([\d.]+)/m.exec(output)?.[1])
  const left = Number((await query(url, 'select count(*) as left from task'))[0]?.['left'])
  // Rounds that met the others' locks at the end claimed fewer than a hundred.
  return ((count - left) * tps) / (each * CLIENTS)
}

/** Milliseconds that the server and one pgbench need to remove a row and change the next, committed, one after the other. */
export async function floorHop(bench: Bench): Promise<number> {
  const count = bench.sizes.chain
  const url = await rows(bench, count + 1)
  const load = ['-n', '-M', 'prepared', '-c', '1', '-t', String(count), '-D', 'n=0']
  const output = run(bench.bin, 'pgbench', [...load, '-f', join(FOLDER, 'hop.sql'), url])
  return Number(/^latency average = ([\d.]+) ms/m.exec(output)?.[1])
}

/** A database with that many rows to begin with. */
async function rows(bench: Bench, count: number): Promise<string> {
  const url = await bench.postgres.freshDatabase('bench_floor')
  run(bench.bin, 'psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-v', `count=${count}`, '-f', join(FOLDER, 'setup.sql'), url])
  await settle(bench, url)
  return url
}

function run(bin: string, program: string, args: string[]): string {
  return execFileSync(join(bin, program), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
