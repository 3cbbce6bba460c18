// The package as a user gets it: packed, installed into a project of its own, type-checked and run there.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database } from './database.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const INSTALL_MS = 240_000

let project: string
let packed: string[]

// A user's npm knows nothing of the settings that ours hands down to its scripts.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): string {
  try {
    return execFileSync(program, args, {
      cwd: project,
      encoding: 'utf8',
      env: { ...environment, ...env },
      stdio: 'pipe',
    })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`)
  }
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'millrace-package-'))
  run(process.execPath, [join(root, 'scripts', 'bootstrap.mjs')])
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  const [archive] = JSON.parse(run('npm', ['pack', root, '--json', '--pack-destination', project, ...quiet]))
  packed = archive.files.map(({ path }: { path: string }) => path)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  // Without the optional packages: the embedded server is heavy, and a library's user has a database.
  const { dependencies, devDependencies } = manifest
  const versions = { ...devDependencies, ...dependencies }
  const beside = ['zod', 'pg', '@types/pg', '@types/node'].map((name) => `${name}@${versions[name]}`)
  run('npm', ['install', '--engine-strict', '--omit=optional', ...quiet, join(project, archive.filename), ...beside])
}, INSTALL_MS)

afterAll(() => rmSync(project, { recursive: true, force: true }))

test('the package holds what it promises and nothing else', () => {
  const entries = Object.values(manifest.exports as Record<string, string | Record<string, string>>)
  const targets = entries.flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
  const bin: string = manifest.bin.millrace
  for (const target of [...targets, bin]) expect(packed).toContain(target.replace(/^\.\//, ''))
  expect(readFileSync(join(root, bin), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'migrations/0001_engine.sql']))
  expect(packed).toEqual(
    expect.arrayContaining(['dist/runners/keeper.pl', 'dist/runners/keeper-linux.pl', 'dist/hooks/notify.sh']),
  )
  expect(packed).toContain('schemas/workflow.v1.json')
  const isExpected =
    /^(dist\/.+\.(js|js\.map|d\.ts)|dist\/runners\/.+\.pl|dist\/hooks\/notify\.sh|dist\/web\/.+|migrations\/.+\.sql|schemas\/.+\.json|package\.json|[A-Z]+(\.md)?)$/
  expect(packed.filter((path) => !isExpected.test(path) || /\.(test|suite)\./.test(path))).toEqual([])
})

test('every entry can be imported', () => {
  for (const entry of ['millrace', 'millrace/testing']) {
    const names = run(process.execPath, ['-e', `import('${entry}').then((m) => console.log(Object.keys(m).length))`])
    expect(Number(names)).toBeGreaterThan(0)
  }
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
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project])
    const told = run(process.execPath, ['out/consumer.js'], { MILLRACE_TEST_DATABASE_URL: db.databaseUrl })
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
  INSTALL_MS,
)
