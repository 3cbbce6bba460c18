import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { adminToken } from './admin-token.ts'

const keptIn = async (dataDir: string) => (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()

test('a first start makes a token that only its owner can read, and a second one keeps it', async () => {
  await using folder = await scratch()
  await adminToken({ dataDir: folder.path })
  const token = await keptIn(folder.path)
  expect(token).toMatch(/^mr_[\w-]{43}$/)
  expect((await stat(join(folder.path, 'admin-token'))).mode & 0o777).toBe(0o600)
  const again = await adminToken({ dataDir: folder.path })
  expect(again.matches(token)).toBe(true)
  expect(await readdir(folder.path)).toEqual(['admin-token'])
})

test('a token that was given is the only one that counts, and no file is made', async () => {
  await using folder = await scratch()
  const token = await adminToken({ dataDir: folder.path, given: 'a-token-of-some-length' })
  expect(token.matches('a-token-of-some-length')).toBe(true)
  expect(token.matches('a-token-of-some-lengtH')).toBe(false)
  expect(token.matches('')).toBe(false)
  expect(await readdir(folder.path)).toEqual([])
})

test('a token file that others could read is closed again', async () => {
  await using folder = await scratch()
  await adminToken({ dataDir: folder.path })
  await chmod(join(folder.path, 'admin-token'), 0o644)
  await adminToken({ dataDir: folder.path })
  expect((await stat(join(folder.path, 'admin-token'))).mode & 0o777).toBe(0o600)
})

test('an empty token file is replaced', async () => {
  await using folder = await scratch()
  await writeFile(join(folder.path, 'admin-token'), '\n')
  const token = await adminToken({ dataDir: folder.path })
  expect(token.matches('')).toBe(false)
  expect(await keptIn(folder.path)).toMatch(/^mr_/)
})

test('starters at the same time agree on one token', async () => {
  await using folder = await scratch()
  const tokens = await Promise.all(Array.from({ length: 8 }, () => adminToken({ dataDir: folder.path })))
  const token = await keptIn(folder.path)
  expect(tokens.every((one) => one.matches(token))).toBe(true)
})
