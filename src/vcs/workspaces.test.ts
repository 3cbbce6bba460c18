import { chmod, mkdir, readdir, readFile, rename, stat, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProgram } from '../../test/program.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { marked, opened, write } from '../../test/repositories/kit.ts'
import { scratch } from '../../test/scratch.ts'

let ground: Ground
beforeAll(async () => {
  ground = await gitFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

async function filled() {
  const plain = await ground.create()
  await plain.commit((folder) => write(join(folder, 'a'), 'good'), 'one')
  return plain
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

test('the workspace of a killed process is never used again, and goes', async () => {
  const plain = await filled()
  const { path: cacheDir } = await scratch()
  const args = ['workspace', JSON.stringify({ ...plain.options, cacheDir })]
  await using holder = runProgram('test/repositories/holder.ts', { args })
  const slot = (await holder.line(/^held /)).slice('held '.length)
  const repository = await opened(plain, { cacheDir })
  const revision = await repository.youngest()
  const beside = await repository.workspace({ revision })
  expect(beside.slot).not.toBe(slot)
  expect(await isThere(slot)).toBe(true)
  await beside[Symbol.asyncDispose]()
  holder.child.kill('SIGKILL')
  await holder.exitCode
  await using first = await repository.workspace({ revision })
  await using second = await repository.workspace({ revision })
  expect([first.slot, second.slot]).not.toContain(slot)
  expect(await isThere(slot)).toBe(false)
  expect(await isThere(`${slot}.lock`)).toBe(false)
  expect(await readFile(join(second.path, 'a'), 'utf8')).toBe('good')
})

test('folders that nobody may write do not keep a workspace from being cleaned or removed', async () => {
  const repository = await opened(await filled(), { keepWorkspaces: 1 })
  const revision = await repository.youngest()
  const before = await repository.workspace({ revision })
  await write(join(before.path, 'cache/deep/file'))
  for (const name of ['cache/deep', 'cache']) await chmod(join(before.path, name), 0o555)
  await before[Symbol.asyncDispose]()
  await using after = await repository.workspace({ revision })
  expect((await readdir(after.path)).sort()).toEqual(['.git', 'a'])
  expect(await readdir(join(after.slot, '..', '..', 'trash')).catch(() => [])).toEqual([])
})

test('a workspace that was replaced by a link to elsewhere is not cleaned there', async () => {
  const repository = await opened(await filled())
  const revision = await repository.youngest()
  const { path: elsewhere } = await scratch()
  await write(join(elsewhere, 'precious'))
  const before = await repository.workspace({ revision })
  await rename(before.path, `${before.path}-moved`)
  await symlink(elsewhere, before.path)
  await before[Symbol.asyncDispose]()
  await using after = await repository.workspace({ revision })
  expect(after.slot).not.toBe(before.slot)
  expect(await readdir(elsewhere)).toEqual(['precious'])
})

test('a workspace that was given back can neither be given back again nor committed', async () => {
  const repository = await opened(await filled())
  const revision = await repository.youngest()
  const workspace = await repository.workspace({ revision })
  await workspace[Symbol.asyncDispose]()
  await using next = await repository.workspace({ revision })
  expect(next.slot).toBe(workspace.slot)
  await workspace[Symbol.asyncDispose]()
  await using other = await repository.workspace({ revision })
  expect(other.slot).not.toBe(next.slot)
  await expect(repository.commit(workspace, marked('late'))).rejects.toMatchObject({ code: 'invalid_change' })
})

test('a repository that is away does not cost the workspaces', async () => {
  const plain = await filled()
  const repository = await opened(plain)
  const revision = await repository.youngest()
  const before = await repository.workspace({ revision })
  await before[Symbol.asyncDispose]()
  await rename(plain.path, `${plain.path}-away`)
  await expect(repository.youngest()).rejects.toMatchObject({ code: 'repository_unreachable' })
  // What is known already is read from the mirror.
  await using after = await repository.workspace({ revision })
  expect(after.slot).toBe(before.slot)
  await mkdir(plain.path)
  await expect(repository.youngest()).rejects.toMatchObject({ code: 'repository_unreachable' })
})

test('what a killed commit left behind goes after a day', async () => {
  const repository = await opened(await filled())
  const revision = await repository.youngest()
  await using first = await repository.workspace({ revision })
  const temporary = join(first.slot, '..', '..', 'tmp')
  const [old, young] = [join(temporary, 'commit-old'), join(temporary, 'commit-young')]
  for (const folder of [old, young]) await write(join(folder, 'content'))
  const longAgo = new Date(Date.now() - 48 * 3600 * 1000)
  await utimes(old, longAgo, longAgo)
  await using _ = await repository.workspace({ revision })
  expect(await readdir(temporary)).toEqual(['commit-young'])
})
