import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { readConfig } from './read.ts'
import { withoutPassword } from './without-password.ts'

const read = (environment: Record<string, string>, workingDirectory: string, flags = {}) =>
  readConfig({ environment, workingDirectory, flags })

const problemOf = async (reading: Promise<unknown>) => {
  try {
    await reading
  } catch (error) {
    return (error as Error).message
  }
  return 'no problem'
}

describe('precedence', () => {
  test('a flag wins over the environment, which wins over the file, which wins over the default', async () => {
    await using folder = await scratch()
    expect((await read({}, folder.path)).config.port).toBe(7420)
    await writeFile(join(folder.path, 'millrace.config.yaml'), 'port: 7001\n')
    expect((await read({}, folder.path)).config.port).toBe(7001)
    expect((await read({ MILLRACE_PORT: '7002' }, folder.path)).config.port).toBe(7002)
    expect((await read({ MILLRACE_PORT: '7002' }, folder.path, { port: '7003' })).config.port).toBe(7003)
  })

  test('what performs tasks has defaults, each of which gives way to what is said', async () => {
    await using folder = await scratch()
    expect((await read({}, folder.path)).config).toMatchObject({
      concurrency: 64,
      lease_seconds: 30,
      queues: 'default',
      drain_seconds: 30,
    })
    const said = {
      MILLRACE_CONCURRENCY: '3',
      MILLRACE_LEASE_SECONDS: '60',
      MILLRACE_QUEUES: 'left,right',
      MILLRACE_DRAIN_SECONDS: '0',
    }
    expect((await read(said, folder.path)).config).toMatchObject({
      concurrency: 3,
      lease_seconds: 60,
      queues: 'left,right',
      drain_seconds: 0,
    })
  })

  test('MILLRACE_DATABASE_URL wins over DATABASE_URL', async () => {
    await using folder = await scratch()
    const other = { DATABASE_URL: 'postgresql://other/db' }
    expect((await read(other, folder.path)).config.database_url).toBe('postgresql://other/db')
    const own = { ...other, MILLRACE_DATABASE_URL: 'postgresql://own/db' }
    expect((await read(own, folder.path)).config.database_url).toBe('postgresql://own/db')
  })

  test('a secret may come from a file', async () => {
    await using folder = await scratch()
    const path = join(folder.path, 'token')
    await writeFile(path, 'a-token-of-some-length\n')
    expect((await read({ MILLRACE_ADMIN_TOKEN_FILE: path }, folder.path)).config.admin_token).toBe(
      'a-token-of-some-length',
    )
  })
})

describe('the configuration file', () => {
  test('is found in a folder above, and its paths are relative to it', async () => {
    await using folder = await scratch()
    const below = join(folder.path, 'a', 'b')
    await mkdir(below, { recursive: true })
    await writeFile(join(folder.path, 'millrace.config.yaml'), 'data: kept\n')
    expect((await read({}, below)).config.data).toBe(join(folder.path, 'kept'))
  })

  test('above the root of the repository does not count', async () => {
    await using folder = await scratch()
    const repository = join(folder.path, 'repository')
    await mkdir(join(repository, '.git'), { recursive: true })
    await writeFile(join(folder.path, 'millrace.config.yaml'), 'port: 7001\n')
    expect((await read({}, repository)).config.port).toBe(7420)
  })

  test('with an unknown key is refused with the nearest known one', async () => {
    await using folder = await scratch()
    await writeFile(join(folder.path, 'millrace.config.yaml'), 'prot: 7001\n')
    expect(await problemOf(read({}, folder.path))).toContain('unknown key prot; did you mean port?')
  })
})

describe('a wrong value', () => {
  test('is refused with the setting, its source and what is expected', async () => {
    await using folder = await scratch()
    expect(await problemOf(read({ MILLRACE_PORT: 'seven' }, folder.path))).toBe(
      'port is "seven" (from MILLRACE_PORT); expected a whole number from 0 to 65535 (0 chooses a free port)',
    )
    await writeFile(join(folder.path, 'millrace.config.yaml'), 'port: true\n')
    expect(await problemOf(read({}, folder.path))).toContain('port is true')
  })

  test('of a secret is not repeated', async () => {
    await using folder = await scratch()
    expect(await problemOf(read({ MILLRACE_ADMIN_TOKEN: 'short' }, folder.path))).not.toContain('short')
  })

  test('does not hide another', async () => {
    await using folder = await scratch()
    const problem = await problemOf(read({ MILLRACE_PORT: '-1', MILLRACE_LOG_LEVEL: 'loud' }, folder.path))
    expect(problem.split('\n')).toHaveLength(2)
  })
})

describe('explaining', () => {
  test('names the source of each setting and shows no secret', async () => {
    await using folder = await scratch()
    const environment = {
      MILLRACE_ADMIN_TOKEN: 'very-secret-token-1',
      DATABASE_URL: 'postgresql://me:hush@host/db?sslpassword=hush',
    }
    const { explained } = await read(environment, folder.path)
    expect(explained).toContainEqual({ name: 'port', value: 7420, source: 'default' })
    expect(explained).toContainEqual({
      name: 'database_url',
      value: 'postgresql://me:***@host/db?sslpassword=***',
      source: 'DATABASE_URL',
    })
    expect(JSON.stringify(explained)).not.toMatch(/hush|very-secret/)
  })

  test('a password with an @ in it is not shown in part', () => {
    expect(withoutPassword('postgresql://me:p@ss@host/db')).toBe('postgresql://me:***@host/db')
  })
})
