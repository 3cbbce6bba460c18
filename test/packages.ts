// The two packages of this tree as a user gets them: `millrace`, the library, and `millrace-server`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Everything that `npm install millrace` installs: the library, the driver, the driver's own packages, their types. */
export const LIBRARY_PACKAGES = [
  '@types/node',
  '@types/pg',
  'millrace',
  'pg',
  'pg-cloudflare',
  'pg-connection-string',
  'pg-int8',
  'pg-pool',
  'pg-protocol',
  'pg-types',
  'pgpass',
  'postgres-array',
  'postgres-bytea',
  'postgres-date',
  'postgres-interval',
  'split2',
  'undici-types',
  'xtend',
]

// A user's npm does not have the settings that ours passes to its scripts.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

export function run(folder: string, [program = '', ...args]: string[], env: NodeJS.ProcessEnv = {}): string {
  try {
    return execFileSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...environment, ...env },
      stdio: 'pipe',
      maxBuffer: 1 << 26,
    })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`)
  }
}

export type Packed = { readonly file: string; readonly paths: string[] }

/** Packs the library and the server into `folder`. */
export function pack(folder: string): { library: Packed; server: Packed } {
  run(root, [process.execPath, join('scripts', 'bootstrap.mjs')])
  const packOne = (from: string): Packed => {
    const quiet = ['--ignore-scripts', '--json', '--pack-destination', folder]
    const [archive] = JSON.parse(run(root, ['npm', 'pack', from, ...quiet]))
    return { file: join(folder, archive.filename), paths: archive.files.map(({ path }: { path: string }) => path) }
  }
  const library = packOne(root)
  run(root, [process.execPath, join('scripts', 'pack-server.mjs')])
  try {
    return { library, server: packOne(join(root, 'server')) }
  } finally {
    run(root, [process.execPath, join('scripts', 'pack-server.mjs'), '--clean'])
  }
}

export type Entry = {
  readonly version?: string
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly os?: string[]
  readonly cpu?: string[]
  readonly libc?: string[]
}

export function readLock(): Record<string, Entry> {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
}
