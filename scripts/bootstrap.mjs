// Everything a fresh clone needs before it can run: the right Node, the packages, the build. This file runs
// before anything is installed, so it and what it imports use nothing but Node itself. It talks on stderr:
// stdout belongs to the program that is started afterwards.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const at = (/** @type {string[]} */ ...parts) => join(root, ...parts)
const say = (/** @type {string} */ text) => process.stderr.write(`${text}\n`)

/**
 * Checks Node, installs the locked packages when they differ from the lock file, and builds `dist` when
 * the sources differ from what was built. Does nothing, in a few milliseconds, when all is current.
 * Ends the process with a sentence when a step does not work.
 */
export function bootstrap() {
  requireNode()
  install()
  build()
}

function requireNode() {
  const { engines } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  const floor = engines.node.replace('>=', '')
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = floor.split('.').map(Number)
  const isOlder = major < leastMajor || (major === leastMajor && minor < leastMinor)
  if (isOlder) stop(`Node ${process.versions.node} is too old: install Node ${floor} or newer`)
}

function install() {
  const stamp = at('node_modules', '.millrace-stamp')
  const wanted = digest(['package-lock.json'])
  if (read(stamp) === wanted) return
  if (!isInstalled()) {
    say('installing packages …')
    npm(['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund'])
  }
  writeFileSync(stamp, wanted)
}

/** @typedef {{ version?: string, link?: true, optional?: true, devOptional?: true, os?: string[], cpu?: string[], libc?: string[] }} Locked */

/**
 * Tells whether an `npm ci` or `npm install` by hand has installed what the lock file names: npm keeps a list of what
 * it installed. Of optional packages, those of this platform count.
 */
function isInstalled() {
  const list = read(at('node_modules', '.package-lock.json'))
  if (list === undefined) return false
  /** @type {Record<string, Locked>} */
  const installed = JSON.parse(list).packages
  /** @type {Record<string, Locked>} */
  const locked = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages
  return Object.entries(locked).every(([path, entry]) => {
    if (path === '' || !isNeeded(entry)) return true
    return installed[path] !== undefined && installed[path].version === entry.version && existsSync(at(path))
  })
}

/** @param {Locked} entry */
function isNeeded({ optional, devOptional, os, cpu, libc }) {
  if (!optional && !devOptional) return true
  // Without a platform it may belong to a package of another one; a C library is left to npm to tell.
  if (os === undefined || cpu === undefined || libc !== undefined) return false
  return os.includes(process.platform) && cpu.includes(process.arch)
}

// Both are built aside and moved into place: a broken build leaves the last good one, and no file of an earlier one
// stays. The dashboard has a stamp of its own, so that a change of it alone does not compile the program.
function build() {
  buildProgram()
  buildDashboard()
}

function buildProgram() {
  const stamp = at('dist', '.stamp')
  const wanted = digest(['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...filesUnder('src')])
  if (read(stamp) === wanted) return
  say('building …')
  const fresh = `dist-${process.pid}`
  builder(fresh, ['typescript', 'bin', 'tsc'], ['-p', 'tsconfig.build.json', '--outDir', fresh])
  mkdirSync(at(fresh), { recursive: true })
  // What is run and not compiled goes along.
  for (const file of filesUnder('src').filter((name) => /\.(pl|sh)$/.test(name)))
    copyFileSync(at(file), at(file.replace(/^src/, fresh)))
  writeFileSync(at(fresh, '.stamp'), wanted)
  if (existsSync(at('dist', 'web'))) renameSync(at('dist', 'web'), at(fresh, 'web'))
  rmSync(at('dist'), { recursive: true, force: true })
  renameSync(at(fresh), at('dist'))
}

function buildDashboard() {
  const stamp = at('dist', 'web', '.stamp')
  const sources = filesUnder('web').filter((name) => !name.includes('node_modules') && !/\.(test\.tsx?|md)$/.test(name))
  const wanted = digest(['package-lock.json', 'tsconfig.json', ...filesUnder(join('src', 'api')), ...sources])
  if (read(stamp) === wanted) return
  say('building the dashboard …')
  const fresh = `dist-web-${process.pid}`
  builder(fresh, ['vite', 'bin', 'vite.js'], ['build', 'web', '--outDir', at(fresh), '--logLevel', 'warn'])
  writeFileSync(at(fresh, '.stamp'), wanted)
  rmSync(at('dist', 'web'), { recursive: true, force: true })
  renameSync(at(fresh), at('dist', 'web'))
}

/**
 * Runs a tool of the packages that builds into `fresh`; what it leaves behind when it fails is removed.
 * @param {string} fresh @param {string[]} tool @param {string[]} args
 */
function builder(fresh, tool, args) {
  const done = spawnSync(process.execPath, [at('node_modules', ...tool), ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (done.status === 0) return
  rmSync(at(fresh), { recursive: true, force: true })
  stop('the build does not pass: see the lines above')
}

/**
 * Runs npm with the given arguments, its output on stderr, and ends the process when it fails.
 * @param {string[]} args
 */
export function npm(args) {
  const cli = process.env['npm_execpath']
  const [command, first] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []]
  const done = spawnSync(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.status !== 0) stop(`npm ${args.join(' ')} did not work: see the lines above`)
}

/** @param {string} text @returns {never} */
export function stop(text) {
  say(text)
  process.exit(1)
}

/** @param {string} file */
function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** @param {string} folder @returns {string[]} */
function filesUnder(folder) {
  return readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}

/** @param {string[]} files */
function digest(files) {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(at(file)))
      .update('\0')
  return hash.digest('hex')
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) bootstrap()
