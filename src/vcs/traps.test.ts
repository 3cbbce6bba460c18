// Commits and later uses of a workspace in which a hostile task was at work.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitFiles } from '../../test/repositories/git.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { marked, opened, paths, write } from '../../test/repositories/kit.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { gitTraps, svnTraps, traps } from '../../test/repositories/traps.ts'
import { scratch } from '../../test/scratch.ts'

const kinds = { git: [gitFiles, [...traps, ...gitTraps]], svn: [svnFiles, [...traps, ...svnTraps]] } as const

describe.each(Object.entries(kinds))('%s', (_kind, [open, all]) => {
  let ground: Ground
  beforeAll(async () => {
    ground = await open()
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  test.each(all)('$name: nothing outside is touched and no command runs', async ({ set, isRefused = false }) => {
    const plain = await ground.create()
    await plain.commit(async (folder) => {
      for (const name of ['kept', 'folder/inside', 'changed']) await write(join(folder, name), name)
    }, 'one')
    const repository = await opened(plain)
    const { path } = await scratch()
    const [mark, elsewhere] = [join(path, 'mark'), join(path, 'elsewhere')]
    await mkdir(elsewhere)
    await write(join(elsewhere, 'precious'), 'precious')
    const revision = await repository.youngest()
    const before = await repository.workspace({ revision })
    await set({ tree: before.path, mark, elsewhere })
    await write(join(before.path, 'changed'), 'by the task')
    const attempts: string[] = []
    for (const round of ['first', 'second']) {
      const made = await repository.commit(before, marked(round)).catch((error: { code?: string }) => error)
      attempts.push('code' in (made ?? {}) ? String((made as { code?: string }).code) : 'made')
    }
    await before[Symbol.asyncDispose]()
    expect(attempts).toEqual(isRefused ? ['invalid_change', 'invalid_change'] : ['made', 'made'])
    const youngest = await repository.youngest()
    await using after = await repository.workspace({ revision: youngest })
    expect(await readFile(join(after.path, 'changed'), 'utf8')).toBe(isRefused ? 'changed' : 'by the task')
    const known = await paths(repository.list('', youngest, { recursive: true }))
    const left = (await readdir(after.path)).filter((name) => !/^\.(git|svn)$/.test(name))
    expect(left.sort()).toEqual(known.filter((name) => !name.includes('/')).sort())
    expect(existsSync(mark)).toBe(false)
    expect(await readdir(elsewhere)).toEqual(['precious'])
    expect(await readFile(join(elsewhere, 'precious'), 'utf8')).toBe('precious')
  })
})
