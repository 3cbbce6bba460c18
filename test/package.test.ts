// The packages as a user gets them: packed, unpacked into a project of their own beside what they depend on, type-checked
// and run there. What they depend on is linked from the clone, so that no registry is asked; test/long/install.test.ts asks one.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database } from './database.ts'
import { LIBRARY_PACKAGES, type Packed, pack, readLock, root, run } from './packages.ts'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const BUILD_MS = 240_000

let folder: string
let project: string
let host: string
let library: Packed
let server: Packed
let libraryPackages: string[]

/** Unpacks a package into the project, and links what it depends on; returns the names of all of them. */
function install(into: string, name: string, { file }: Packed): string[] {
  const home = join(into, 'node_modules', name)
  mkdirSync(home, { recursive: true })
  run(home, ['tar', 'xzf', file, '--strip-components=1'])
  const names = dependenciesOf(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')))
  for (const one of names) link(into, one)
  return [name, ...names].sort()
}

function link(into: string, name: string) {
  const path = join(into, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) symlinkSync(join(root, 'node_modules', name), path)
}

/** The packages of a manifest's dependencies and of theirs, as the lock file has them, where this platform has them. */
function dependenciesOf(from: { dependencies?: object; optionalDependencies?: object }): string[] {
  const locked = readLock()
  const found = new Set<string>()
  const left = [from]
  for (let one = left.pop(); one !== undefined; one = left.pop())
    for (const name of Object.keys({ ...one.dependencies, ...one.optionalDependencies })) {
      if (found.has(name) || !existsSync(join(root, 'node_modules', name))) continue
      found.add(name)
      left.push(locked[`node_modules/${name}`] ?? {})
    }
  return [...found]
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-package-'))
  project = join(folder, 'project')
  host = join(folder, 'host')
  ;({ library, server } = pack(folder))
  for (const one of [project, host]) {
    mkdirSync(one)
    writeFileSync(join(one, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  }
  libraryPackages = install(project, 'millrace', library)
  install(host, 'millrace-server', server)
  for (const name of ['zod', 'pg', '@types/pg', '@types/node']) link(project, name)
}, BUILD_MS)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the library holds what it promises and nothing else', () => {
  const entries = Object.values(manifest.exports as Record<string, string | Record<string, string>>)
  const targets = entries.flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
  for (const target of [...targets, manifest.bin.millrace]) expect(library.paths).toContain(target.replace(/^\.\//, ''))
  expect(library.paths).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'migrations/0001_engine.sql']),
  )
  const isExpected =
    /^(dist\/((db|engine)\/.+|index|testing)\.(js|js\.map|d\.ts)|server\/bin\.mjs|migrations\/.+\.sql|package\.json|[A-Z]+(\.md)?)$/
  expect(library.paths.filter((path) => !isExpected.test(path) || /\.(test|suite)\./.test(path))).toEqual([])
})

test('the server holds what it promises and nothing else', () => {
  expect(readFileSync(join(root, 'server', 'bin.mjs'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  expect(server.paths).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'migrations/0001_engine.sql', 'bin.mjs']),
  )
  expect(server.paths).toEqual(
    expect.arrayContaining(['dist/runners/keeper.pl', 'dist/runners/keeper-linux.pl', 'dist/hooks/notify.sh']),
  )
  expect(server.paths).toEqual(expect.arrayContaining(['schemas/workflow.v1.json', 'dist/web/index.html']))
  const isExpected =
    /^(bin\.mjs|dist\/.+\.(js|js\.map|d\.ts)|dist\/runners\/.+\.pl|dist\/hooks\/notify\.sh|dist\/web\/.+|migrations\/.+\.sql|schemas\/.+\.json|package\.json|[A-Z]+(\.md)?)$/
  expect(server.paths.filter((path) => !isExpected.test(path) || /\.(test|suite)\./.test(path))).toEqual([])
})

test('the library installs the driver of the database and no other package', () => {
  expect(libraryPackages).toEqual(LIBRARY_PACKAGES)
})

test('every entry can be imported', () => {
  for (const entry of ['millrace', 'millrace/testing']) {
    const print = `import('${entry}').then((m) => console.log(Object.keys(m).length))`
    expect(Number(run(project, [process.execPath, '-e', print]))).toBeGreaterThan(0)
  }
})

test('the library loads no package of the server, even where they are installed', () => {
  // An ES module passes through the hook, which prints its address; a CommonJS module is in the cache of `require`.
  const hook = `import { writeSync } from 'node:fs'
    export async function load(url, context, next) { writeSync(1, url + '\\n'); return next(url, context) }`
  const program = `import { createRequire, register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))
    await import('millrace')
    await import('millrace/testing')
    console.log(Object.keys(createRequire(process.cwd() + '/').cache).join('\\n'))`
  const loaded = run(root, [process.execPath, '--input-type=module', '-e', program])
  const names = [...loaded.matchAll(/\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//g)].map(([, name]) => name)
  expect(loaded).toContain('/dist/engine/index.js')
  expect(names).toContain('pg')
  expect([...new Set(names)].filter((name) => !LIBRARY_PACKAGES.includes(name ?? ''))).toEqual([])
  const own = loaded.split('\n').filter((url) => !url.includes('/node_modules/'))
  expect(own.filter((url) => /\/dist\/(?!db\/|engine\/|index\.js|testing\.js)/.test(url))).toEqual([])
})

test('the server runs from its package, and the command of the library passes on to it', () => {
  const command = (into: string, name: string, bin: string) => {
    const args = [join(into, 'node_modules', name, bin), 'version']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: into, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const said = { status: 0, stdout: `${manifest.version}\n`, stderr: '' }
  expect(command(host, 'millrace-server', 'bin.mjs')).toEqual(said)
  run(host, [process.execPath, '-e', `import('./node_modules/millrace-server/dist/main.js')`])
  const { stderr, ...alone } = command(project, 'millrace', manifest.bin.millrace)
  expect(alone).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain('npm install --global millrace-server')
  install(host, 'millrace', library)
  expect(command(host, 'millrace', manifest.bin.millrace)).toEqual(said)
})

test(
  'a program of a user compiles, with types that flow and refuse, and runs',
  async () => {
    await using db = await database()
    cpSync(join(root, 'test', 'package', 'consumer.ts'), join(project, 'consumer.ts'))
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      // The declarations that the package ships must hold by themselves, too.
      skipLibCheck: false,
      types: ['node'],
      outDir: 'out',
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    run(project, [process.execPath, join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project])
    const told = run(project, [process.execPath, 'out/consumer.js'], { MILLRACE_TEST_DATABASE_URL: db.databaseUrl })
    expect(JSON.parse(told)).toEqual({
      states: ['succeeded', 'succeeded', 'failed'],
      own: { withdrawn: [false, false], ordered: [false, true], rows: ['ordered'] },
      tested: {
        letters: 5,
        postponed: true,
        same: true,
        isNext: true,
        counts: { succeeded: 1, failed: 1, canceled: 0, retry: 1, later: 0, dropped: 0 },
      },
      typed: { at: '1970', n: 42 },
    })
    const { rows } = await db.pool.query('select text, letters from counted order by letters, text')
    expect(rows).toEqual([
      { text: 'wheel', letters: 5 },
      { text: 'ordered', letters: 7 },
      { text: 'millrace', letters: 8 },
    ])
  },
  BUILD_MS,
)
