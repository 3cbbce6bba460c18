import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { changeConfig } from './change.ts'
import { configPath, readConfig } from './read.ts'

async function aFolder(text?: string) {
  const { path: folder } = await scratch()
  const file = join(folder, 'millrace.config.yaml')
  if (text !== undefined) await writeFile(file, text)
  return { folder, file, sources: { environment: {}, workingDirectory: folder } }
}

test('a setting is written, read, and taken out again, and what else is in the file stays', async () => {
  const { file, sources } = await aFolder('# ours\nport: 8080 # of the gate\n')
  expect(await changeConfig('concurrency', '3', sources)).toBe(file)
  expect(await readFile(file, 'utf8')).toBe('# ours\nport: 8080 # of the gate\nconcurrency: 3\n')
  expect((await readConfig(sources)).config).toMatchObject({ port: 8080, concurrency: 3 })
  await changeConfig('concurrency', undefined, sources)
  expect(await readFile(file, 'utf8')).toBe('# ours\nport: 8080 # of the gate\n')
})

test('the last setting can go and another come, each on a line of its own', async () => {
  const { file, sources } = await aFolder('# ours\n')
  await changeConfig('port', '1', sources)
  await changeConfig('port', undefined, sources)
  await changeConfig('port', '2', sources)
  await changeConfig('queues', 'a,b', sources)
  expect((await readFile(file, 'utf8')).split('\n').filter(Boolean)).toEqual(['# ours', 'port: 2', 'queues: a,b'])
})

test('a file is made where there is none, and one above is the one that is changed', async () => {
  const { folder, file, sources } = await aFolder()
  expect(configPath(sources)).toBe(file)
  await changeConfig('port', '8080', sources)
  const below = { ...sources, workingDirectory: join(folder, 'below') }
  expect(await changeConfig('data', 'here', below)).toBe(file)
  // A path means the same for the file as where it was typed.
  expect((await readConfig(sources)).config).toMatchObject({ port: 8080, data: join(folder, 'below', 'here') })
})

test('what is no value of the setting, or no setting, is refused and nothing is written', async () => {
  const { file, sources } = await aFolder()
  await expect(changeConfig('port', '99999', sources)).rejects.toThrow('expected a whole number from 0 to 65535')
  await expect(changeConfig('prt', '1', sources)).rejects.toThrow('did you mean port?')
  await expect(changeConfig('token', 'x', sources)).rejects.toThrow('not taken from a configuration file')
  await expect(stat(file)).rejects.toThrow('ENOENT')
})

test('a file that cannot be read is left as it is', async () => {
  const { file, sources } = await aFolder('port: [1\n')
  await expect(changeConfig('port', '1', sources)).rejects.toMatchObject({ code: 'config_invalid' })
  expect(await readFile(file, 'utf8')).toBe('port: [1\n')
})

test('a file that holds a secret is for its owner alone, and stays so', async () => {
  const { file, sources } = await aFolder('port: 1\n')
  await changeConfig('admin_token', 'sixteen-letters-long', sources)
  await changeConfig('port', '2', sources)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})
