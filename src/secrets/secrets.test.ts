import { chmod, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { scratch } from '../../test/scratch.ts'
import {
  createSecrets,
  SecretAltered,
  SecretChanged,
  SecretKeyMissing,
  SecretKeyUnusable,
  SecretKeyWrong,
  SecretMissing,
  SecretNotFound,
} from './index.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
})
beforeEach(() => db.pool.query('truncate millrace.secret'))
afterAll(() => db[Symbol.asyncDispose]())

const VALUE = 'the value that nobody may see'
const actor = 'admin'

/** A store with a folder of its own for the key. */
async function aStore() {
  const { path } = await scratch()
  const dataDir = join(path, 'data')
  const secrets = createSecrets({ pool: db.pool, dataDir })
  return {
    ...secrets,
    dataDir,
    file: join(dataDir, 'secret-key'),
    put: (name: string, value = VALUE, archive = '') => secrets.set({ archive, name, value, actor }),
  }
}

describe('a secret', () => {
  test('is read as it was set, in any length and script', async () => {
    const store = await aStore()
    const long = 'schlüssel\n'.repeat(10_000)
    await store.put('KEY')
    await store.put('LONG', long)
    await store.put('EMPTY', '')
    expect(await store.read('My-Project', ['KEY', 'LONG', 'EMPTY', 'KEY'])).toEqual({
      KEY: VALUE,
      LONG: long,
      EMPTY: '',
    })
    expect(await store.read('My-Project', [])).toEqual({})
  })

  test('of an archive is meant before the one for all, and is no other archive’s', async () => {
    const store = await aStore()
    await store.put('KEY', 'for all')
    await store.put('KEY', 'of one', 'one')
    await store.put('OWN', 'of one', 'one')
    expect(await store.read('one', ['KEY'])).toEqual({ KEY: 'of one' })
    expect(await store.read('two', ['KEY'])).toEqual({ KEY: 'for all' })
    await expect(store.read('two', ['OWN', 'KEY', 'NONE'])).rejects.toThrow(SecretMissing)
    await expect(store.read('two', ['OWN', 'KEY', 'NONE'])).rejects.toThrow(
      'secrets OWN, NONE are not set, neither for archive two nor for all',
    )
  })

  test('is not in the database as it is', async () => {
    const store = await aStore()
    await store.put('KEY')
    await store.put('SAME')
    const { rows } = await db.pool.query('select sealed, s::text as whole from millrace.secret s')
    for (const { sealed, whole } of rows) {
      expect(sealed.includes(VALUE)).toBe(false)
      expect(whole).not.toContain(Buffer.from(VALUE).toString('hex'))
    }
    expect(rows[0].sealed.equals(rows[1].sealed)).toBe(false)
  })

  test('is listed with its versions and times and without its value', async () => {
    const store = await aStore()
    await store.put('B')
    await store.put('A')
    await store.put('A', 'another', 'one')
    await db.pool.query('select pg_sleep(0.002)') // times are told in milliseconds
    await store.put('A', 'a third', 'one')
    const all = await store.list({ limit: 10 })
    expect(all.map(({ archive, name, version }) => [archive, name, version])).toEqual([
      ['', 'B', 1],
      ['', 'A', 1],
      ['one', 'A', 2],
    ])
    expect(all[2]?.changedAt.getTime()).toBeGreaterThan(all[2]?.createdAt.getTime() ?? 0)
    expect(JSON.stringify(all)).not.toMatch(/another|third|nobody/)
    expect(await store.list({ archive: 'two', limit: 10 })).toHaveLength(2)
    expect(await store.list({ after: all[0]?.id, limit: 10 })).toEqual(all.slice(1))
  })

  test('is changed and removed only at the version that was meant', async () => {
    const store = await aStore()
    const first = await store.put('KEY')
    await store.put('KEY', 'two')
    const change = { archive: '', name: 'KEY', actor, version: first.version }
    await expect(store.set({ ...change, value: 'three' })).rejects.toThrow(SecretChanged)
    await expect(store.remove(change)).rejects.toThrow(SecretChanged)
    expect(await store.read('x', ['KEY'])).toEqual({ KEY: 'two' })
    await store.remove({ ...change, version: 2 })
    await expect(store.remove({ ...change, version: 2 })).rejects.toThrow(SecretNotFound)
  })

  test('that was moved to another row does not open', async () => {
    const store = await aStore()
    await store.put('KEY')
    await store.put('OTHER', 'something else')
    await db.pool.query(
      `update millrace.secret set sealed = (select sealed from millrace.secret where name = 'KEY') where name = 'OTHER'`,
    )
    await expect(store.read('x', ['OTHER'])).rejects.toThrow(SecretAltered)
    await db.pool.query(`update millrace.secret set version = 7 where name = 'KEY'`)
    await expect(store.read('x', ['KEY'])).rejects.toThrow(SecretAltered)
  })
})

describe('the key', () => {
  test('is made by the first secret, for its owner alone, and stays', async () => {
    const store = await aStore()
    await expect(stat(store.file)).rejects.toThrow('ENOENT')
    const names = Array.from({ length: 12 }, (_, i) => `KEY_${i}`)
    await Promise.all(names.map((name) => store.put(name)))
    const made = await readFile(store.file, 'utf8')
    expect((await stat(store.file)).mode & 0o777).toBe(0o600)
    await chmod(store.file, 0o644)
    await store.put('D')
    expect((await stat(store.file)).mode & 0o777).toBe(0o600)
    expect(await readFile(store.file, 'utf8')).toBe(made)
    expect(Object.keys(await store.read('x', [...names, 'D']))).toHaveLength(13)
  })

  test('that is missing or another one is said clearly, and nothing is sealed with it', async () => {
    const first = await aStore()
    await first.put('KEY')
    const second = await aStore()
    await expect(second.read('x', ['KEY'])).rejects.toThrow(SecretKeyMissing)
    await expect(second.put('NEW')).rejects.toThrow(SecretKeyMissing)
    await expect(stat(second.file)).rejects.toThrow('ENOENT')

    const third = createSecrets({ pool: db.pool, dataDir: second.dataDir, key: 'x'.repeat(32) })
    await expect(third.read('x', ['KEY'])).rejects.toThrow(SecretKeyWrong)
    await expect(third.set({ archive: '', name: 'NEW', value: 'y', actor })).rejects.toThrow(SecretKeyWrong)
    // Whoever has lost the key begins again.
    await third.remove({ archive: '', name: 'KEY', actor })
    await third.set({ archive: '', name: 'NEW', value: 'y', actor })
    await rm(first.file)
    await expect(first.read('x', ['NEW'])).rejects.toThrow(SecretKeyMissing)
  })

  test('of one server opens the secrets on another that is given it', async () => {
    const first = await aStore()
    await first.put('KEY')
    const key = await readFile(first.file, 'utf8')
    const second = createSecrets({ pool: db.pool, dataDir: '/nonexistent', key })
    expect(await second.read('x', ['KEY'])).toEqual({ KEY: VALUE })
    const short = createSecrets({ pool: db.pool, dataDir: '/nonexistent', key: 'short' })
    await expect(short.read('x', ['KEY'])).rejects.toThrow(SecretKeyUnusable)
  })
})
