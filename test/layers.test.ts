import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findLayerProblems } from '../scripts/layers.ts'

const page = `
| folder   | is  | may import |
| -------- | --- | ---------- |
| \`config\` | ten | —          |
| \`db\`     | one | —          |
| \`engine\` | two | \`db\`       |
| \`http\`   | six | \`engine\`   |
`

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-layers-'))
  plant('ARCHITECTURE.md', page)
  plant('src/main.ts', `import { serve } from './http/index.ts'\nimport { readAll } from './config/index.ts'\n`)
  plant('src/config/index.ts', 'export const readAll = () => process.env\n')
  plant('src/db/index.ts', `export { pool } from './pool.ts'\n`)
  plant('src/db/pool.ts', `import pg from 'pg'\nexport const pool = 'select 1 from task'\n`)
  plant('src/engine/index.ts', `export { claim } from './claim.ts'\n`)
  plant('src/engine/claim.ts', `import { pool } from '../db/index.ts'\nimport { claimReady } from './tasks.sql.ts'\n`)
  plant('src/engine/tasks.sql.ts', 'export const claimReady = `select id from task`\n')
  plant('src/engine/claim.test.ts', `import { database } from '../../test/database.ts'\n`)
  plant('src/http/index.ts', `import { claim } from '../engine/index.ts'\n`)
})
afterEach(() => rmSync(root, { recursive: true }))

function plant(file: string, text: string) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}

test('a tree that follows the table has no problems', () => {
  expect(findLayerProblems(root)).toEqual([])
})

describe('reported is', () => {
  test.each([
    [
      'an import that the table does not allow',
      `import { claim } from '../http/index.ts'`,
      'engine may not import http',
    ],
    ['the import of a type', `import type { S } from '../http/index.ts'`, 'engine may not import http'],
    ['an export from another folder', `export { serve } from '../http/index.ts'`, 'engine may not import http'],
    ['a dynamic import', `await import('../http/index.ts')`, 'engine may not import http'],
    ['an import for its effect', `import '../http/index.ts'`, 'engine may not import http'],
    [
      'an import past the door',
      `import { p } from '../db/pool.ts'`,
      'imports src/db/pool.ts and not the door src/db/index.ts',
    ],
    ['an import of the composition root', `import { p } from '../parts.ts'`, 'which belongs to the composition root'],
    [
      'an import from outside src',
      `import { d } from '../../test/database.ts'`,
      'test/database.ts, which is outside src',
    ],
    ['the driver outside db', `import pg from 'pg'`, 'only db imports pg'],
    ['the environment', 'const home = process.env.HOME', 'only config reads the environment'],
    ['SQL in a string', `tx.query('delete from task')`, 'SQL belongs into a .sql.ts file'],
    [
      'SQL in a template',
      'const q = `\n  with next as (\n    select 1\n  ) select 2`',
      'SQL belongs into a .sql.ts file',
    ],
  ])('%s', (_, line, problem) => {
    plant('src/engine/renew.ts', `// first line\n${line}\n`)
    expect(findLayerProblems(root)).toEqual([expect.stringContaining(problem)])
    expect(findLayerProblems(root)[0]).toMatch(/^src\/engine\/renew\.ts:2: /)
  })

  test('a folder that the table does not name', () => {
    plant('src/utils/index.ts', '')
    expect(findLayerProblems(root)).toEqual(['src/utils: the folder is missing from the table in ARCHITECTURE.md'])
  })

  test('a path on the page that leads nowhere', () => {
    plant('ARCHITECTURE.md', `${page}\nClaiming is \`src/engine/claim.ts\`, finishing \`src/engine/finish.ts\`.\n`)
    expect(findLayerProblems(root)).toEqual(['ARCHITECTURE.md: there is no src/engine/finish.ts'])
  })

  test('a folder without a door', () => {
    rmSync(join(root, 'src/http/index.ts'))
    plant('src/http/serve.ts', '')
    expect(findLayerProblems(root)).toEqual(['src/http/index.ts: the folder has no door'])
  })

  test('a door that does not name what it gives', () => {
    plant('src/http/index.ts', `export * from './serve.ts'\n`)
    expect(findLayerProblems(root)).toEqual([expect.stringContaining('a door lists its exports by name')])
  })

  test('a stray file beside the composition root', () => {
    plant('src/helpers.ts', '')
    expect(findLayerProblems(root)).toEqual([
      expect.stringContaining('src/helpers.ts: only main, foundation, log, work'),
    ])
  })
})

describe('not reported is', () => {
  test.each([
    ['an import in a comment', `// import { claim } from '../http/index.ts'\n/* import '../http/index.ts' */`],
    ['an import in a string', `const text = "import '../http/index.ts'"`],
    ['English that begins like SQL', `const text = 'select a task, update it'`],
    ['code after a comment opener in a string', `const glob = '**/*.ts'; const other = "*/"`],
    ['a quote in a regular expression', `const quote = /['"]/\nconst path = 'process.env'`],
  ])('%s', (_, line) => {
    plant('src/engine/renew.ts', `${line}\n`)
    expect(findLayerProblems(root)).toEqual([])
  })
})

describe('of the dashboard', () => {
  const dashboard = (text: string) => {
    plant('web/src/api.ts', text)
    return findLayerProblems(root)
  }

  test.each([
    `import { createClient } from '../../src/api/client.ts'`,
    `import type { Route } from '../../src/api/index.ts'`,
    `import { clock } from './clock.ts'`,
    `import { useQuery } from '@tanstack/react-query'`,
  ])('allowed is %s', (text) => {
    expect(dashboard(text)).toEqual([])
  })

  test.each([
    [`import { routes } from '../../src/api/index.ts'`, 'src/api/index.ts'],
    [`import { a } from './a.ts'\nimport { type Route, routes } from '../../src/api/index.ts'`, 'src/api/index.ts'],
    [`import type { Task } from '../../src/engine/index.ts'`, 'src/engine/index.ts'],
    [`await import('../../src/api/index.ts')`, 'src/api/index.ts'],
    [`import { bootstrap } from '../../scripts/bootstrap.mjs'`, 'scripts/bootstrap.mjs'],
  ])('reported is %s', (text, target) => {
    expect(dashboard(text)).toEqual([expect.stringContaining(`imports ${target}; of the program web loads`)])
  })
})
