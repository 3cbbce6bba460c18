import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findUntidy } from '../scripts/tidy.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-tidy-'))
  execFileSync('git', ['init', '-q', root])
})
afterEach(() => rmSync(root, { recursive: true }))

function plant(file: string, text: string) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}

test('migrations are numbered without gaps and say why they exist', () => {
  plant('migrations/0001_engine.sql', '-- The work graph: tasks, edges, attempts.\ncreate table task ();\n')
  plant('migrations/functions/claim.sql', '-- Leases ready tasks to a worker.\n')
  plant('migrations/schema.sql', '')
  expect(findUntidy('migrations', root)).toEqual([])
  plant('migrations/0003_limits.sql', 'create table limits ();\n')
  plant('migrations/functions/renew.sql', 'create function renew();\n')
  expect(findUntidy('migrations', root)).toEqual([
    'migrations/0003_limits.sql: expected the name to begin with 0002_, then lower case words',
    'migrations/0003_limits.sql:1: the first line is a sentence on why',
    'migrations/functions/renew.sql:1: the first line is a sentence on why',
  ])
})

test('unfinished work and tests that are left out are found', () => {
  plant('src/a.ts', `// ${'TO'}DO #12: later\n`)
  expect(findUntidy('marks', root)).toEqual([])
  plant('src/b.ts', `// ${'TO'}DO later\n// ${'FIX'}ME\n`)
  plant('src/b.test.ts', `test.${'skip'}('x', () => {})\ndescribe.concurrent.${'only'}('y')\n`)
  expect(findUntidy('marks', root)).toHaveLength(4)
})

test('a lock file that names a host, or disagrees with package.json, is found', () => {
  const packages = {
    '': { dependencies: { a: '1.0.0' } },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' },
  }
  plant('package.json', JSON.stringify({ dependencies: { a: '1.0.0' } }))
  plant('package-lock.json', JSON.stringify({ packages }))
  expect(findUntidy('lock-file', root)).toEqual([])
  plant('package.json', JSON.stringify({ dependencies: { a: '1.0.1' }, devDependencies: { b: '^2.0.0' } }))
  plant(
    'package-lock.json',
    JSON.stringify({ packages: { ...packages, 'node_modules/b': { resolved: 'https://registry.example/b' } } }),
  )
  expect(findUntidy('lock-file', root)).toEqual([
    'package-lock.json: a is 1.0.0, package.json has 1.0.1',
    'package.json: b ^2.0.0 is not one exact version',
    'package-lock.json: node_modules/b names the host it came from',
    'package-lock.json: node_modules/b has no integrity',
  ])
})

test('a lock file without the native package of some platform is found', () => {
  const locked = { version: '1.0.0', integrity: 'sha512-x' }
  const tool = { ...locked, optionalDependencies: { 'tool-linux': '1.0.0', 'tool-darwin': '1.0.0' } }
  const packages = {
    '': { dependencies: { tool: '1.0.0', '@scope/tool': '1.0.0' } },
    'node_modules/tool': tool,
    'node_modules/tool-linux': locked,
    'node_modules/@scope/tool': tool,
    'node_modules/@scope/tool/node_modules/tool-darwin': locked,
  }
  plant('package.json', JSON.stringify(packages['']))
  plant('package-lock.json', JSON.stringify({ packages }))
  expect(findUntidy('lock-file', root)).toEqual([
    'package-lock.json: tool-darwin 1.0.0, a dependency of node_modules/tool, is missing',
  ])
  plant('package-lock.json', JSON.stringify({ packages: { ...packages, 'node_modules/tool-darwin': locked } }))
  expect(findUntidy('lock-file', root)).toEqual([])
})

test('a package that the library or the server imports and does not depend on is found', () => {
  const tested = { pg: '8.0.0', fastify: '5.0.0', '@scope/cookie': '1.0.0' }
  plant('package.json', JSON.stringify({ version: '1.0.0', dependencies: { pg: '8.0.0' }, devDependencies: tested }))
  plant('server/package.json', JSON.stringify({ version: '1.0.0', dependencies: tested }))
  plant('src/engine/add.ts', "import { join } from 'node:path'\nimport pg from 'pg'\n")
  plant('src/http/server.ts', "import '@scope/cookie/plugin'\nconst fastify = await import('fastify')\n")
  expect(findUntidy('manifests', root)).toEqual([])
  plant('src/db/pool.ts', "import { fastify } from 'fastify'\n")
  plant('server/package.json', JSON.stringify({ version: '1.0.1', dependencies: { pg: '8.0.1', fastify: '5.0.0' } }))
  expect(findUntidy('manifests', root)).toEqual([
    'server/package.json: version 1.0.1 is not 1.0.0',
    'server/package.json: pg is 8.0.1, package.json has 8.0.0',
    'src/db/pool.ts: imports fastify, which is not a dependency in package.json',
    'src/http/server.ts: imports @scope/cookie, which is not a dependency in server/package.json',
  ])
})

test('paths of the machine on which something was written are found', () => {
  plant('a.md', 'see src/work/plan.ts and https://example.org/home/page and /var/lib/millrace\n')
  expect(findUntidy('paths', root)).toEqual([])
  plant('b.md', `see ${'/ho'}me/ada/millrace\n`)
  expect(findUntidy('paths', root)).toEqual([expect.stringContaining('b.md:1: a path of one machine')])
})

test('links between documents that lead nowhere are found', () => {
  plant('docs/a.md', '[up](../README.md) [web](https://example.org) [here](#there)\n')
  expect(findUntidy('links', root)).toEqual(['docs/a.md: links to ../README.md, which does not exist'])
  plant('README.md', '')
  expect(findUntidy('links', root)).toEqual([])
})
