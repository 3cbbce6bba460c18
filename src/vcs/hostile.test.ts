// Repositories of a hostile committer, through all that a server does with one: read the log and the contents for the index,
// fill a workspace, commit from it, and fill it again.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitFiles } from '../../test/repositories/git.ts'
import { type Ground, type Plain, say } from '../../test/repositories/ground.ts'
import { type Aim, commitTree, gitTrees, loadRevision, svnRevisions } from '../../test/repositories/hostile.ts'
import { marked, opened, write } from '../../test/repositories/kit.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { scratch } from '../../test/scratch.ts'
import { collect, type Repository, RepositoryError } from './index.ts'

/** Does a step; what a repository makes impossible is refused with a code, never with an error of the program's own. */
async function tried<T>(step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    expect(error).toBeInstanceOf(RepositoryError)
    expect((error as RepositoryError).code).toMatch(/^[a-z_]+$/)
    return undefined
  }
}

async function goThrough(repository: Repository): Promise<void> {
  const revision = await tried(() => repository.youngest())
  if (revision === undefined) return
  await tried(() => collect(repository.log()))
  await tried(async () => {
    const entries = await collect(repository.list('', revision, { recursive: true }))
    await collect(repository.contents(entries, revision, { headBytes: 100 }))
    for (const { path } of entries.slice(0, 3)) await tried(() => repository.properties(path, revision))
  })
  for (const round of ['first', 'second']) {
    const workspace = await tried(() => repository.workspace({ revision, key: round }))
    if (workspace === undefined) continue
    await write(join(workspace.path, 'by-the-task'), round)
    await tried(() => repository.commit(workspace, marked(round)))
    await workspace[Symbol.asyncDispose]()
  }
}

/** Everything below the folder that holds the cache, besides the cache itself. */
async function checkOutside(around: string, { mark, elsewhere }: Aim, plain: Plain): Promise<void> {
  expect(existsSync(mark)).toBe(false)
  expect(await readdir(elsewhere)).toEqual(['precious'])
  expect(await readFile(join(elsewhere, 'precious'), 'utf8')).toBe('precious')
  expect((await readdir(around)).sort()).toEqual(['cache', 'elsewhere'])
  const escaped = (await say('find', [join(around, 'cache'), '-name', 'escaped'])).split('\n').filter(Boolean)
  expect(escaped.filter((name) => !/\/workspaces\/[^/]+\/(tree|base)\//.test(name))).toEqual([])
  expect(existsSync(join(dirname(plain.path), 'escaped'))).toBe(false)
}

const kinds = {
  git: { open: gitFiles, all: Object.entries(gitTrees), add: commitTree },
  svn: { open: svnFiles, all: Object.entries(svnRevisions), add: loadRevision },
} as const

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('%s', (kind) => {
  const { open, all } = kinds[kind]
  let ground: Ground
  beforeAll(async () => {
    ground = await open()
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  test.each(all.map(([name]) => name))('%s', async (name) => {
    const plain = await ground.create()
    await plain.commit((folder) => write(join(folder, 'first')), 'one')
    const { path } = await scratch()
    const aim = { mark: join(path, 'mark'), elsewhere: join(path, 'elsewhere') }
    await mkdir(aim.elsewhere)
    await write(join(aim.elsewhere, 'precious'), 'precious')
    if (kind === 'git') commitTree(plain.path, gitTrees[name]?.(aim) ?? [])
    else loadRevision(plain.path, svnRevisions[name]?.(aim) ?? [])
    await goThrough(await opened(plain, { cacheDir: join(path, 'cache') }))
    await checkOutside(path, aim, plain)
  })
})
