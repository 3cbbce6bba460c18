import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { findConnection } from './connection.ts'
import { writeContexts } from './contexts.ts'

const LOCAL = 'http://127.0.0.1:7420'

async function aPlace() {
  const { path } = await scratch()
  const find = (env: Record<string, string> = {}, flags: Record<string, string> = {}) =>
    findConnection({ environment: { HOME: path, ...env }, workingDirectory: path, flags })
  const keep = (current: string | null, contexts: Record<string, { url: string; token?: string }>) =>
    writeContexts({ current, contexts }, { HOME: path })
  const write = async (name: string, text: string) => {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), text)
    return join(path, name)
  }
  return { path, find, keep, write }
}

test('without anything the server of this machine is asked, with its own token where that can be read', async () => {
  const { find, write } = await aPlace()
  expect(await find()).toMatchObject({ url: LOCAL, urlFrom: 'this machine', token: undefined })
  const file = await write('.millrace/admin-token', 'mr_local\n')
  expect(await find()).toMatchObject({ url: LOCAL, token: 'mr_local', tokenFrom: file })
  expect((await find({ MILLRACE_PORT: '7500' })).url).toBe('http://127.0.0.1:7500')
  expect((await find({ MILLRACE_HOST: '::' })).url).toBe('http://[::1]:7420')
})

test('a flag wins over the environment, which wins over the context in use', async () => {
  const { find, keep, write } = await aPlace()
  keep('work', { work: { url: 'https://work.example', token: 'mr_work' } })
  expect(await find()).toMatchObject({ url: 'https://work.example', urlFrom: 'context work', token: 'mr_work' })
  const env = { MILLRACE_URL: 'https://env.example/', MILLRACE_TOKEN: 'mr_env' }
  expect(await find(env)).toMatchObject({ url: 'https://env.example', urlFrom: 'MILLRACE_URL', token: 'mr_env' })
  const token = await write('token', 'mr_file\n')
  expect(await find(env, { url: 'https://flag.example', token })).toMatchObject({
    url: 'https://flag.example',
    token: 'mr_file',
    tokenFrom: 'flag --token-file',
  })
})

test('a token goes to the server it was kept for, and to no other', async () => {
  const { find, keep, write } = await aPlace()
  await write('.millrace/admin-token', 'mr_local')
  keep('work', {
    work: { url: 'https://work.example', token: 'mr_work' },
    home: { url: 'https://home.example', token: 'mr_home' },
  })
  expect((await find({ MILLRACE_URL: 'https://evil.example' })).token).toBeUndefined()
  expect((await find({ MILLRACE_URL: 'https://work.example.evil.example' })).token).toBeUndefined()
  expect((await find({ MILLRACE_URL: 'https://home.example' })).token).toBe('mr_home')
  expect((await find({ MILLRACE_URL: 'http://127.0.0.1:9999' })).token).toBeUndefined()
  expect((await find({ MILLRACE_URL: LOCAL })).token).toBe('mr_local')
})

test('a file that came with a repository does not say where the token goes', async () => {
  const { find, write, path } = await aPlace()
  await write('.millrace/admin-token', 'mr_local')
  await write('millrace.config.yaml', 'url: https://evil.example\n')
  await expect(find()).rejects.toThrow('url, which is not taken from a configuration file')
  await write('millrace.config.yaml', `host: evil.example\ndata: ${path}/.millrace\n`)
  expect(await find()).toMatchObject({ url: 'http://evil.example:7420', token: undefined })
})

test('an address with a password in it, or that is none, is refused', async () => {
  const { find } = await aPlace()
  for (const url of ['https://me:secret@host.example', 'ftp://host.example', 'host.example', 'https://']) {
    await expect(find({ MILLRACE_URL: url }), url).rejects.toThrow('expected a URL')
  }
})
