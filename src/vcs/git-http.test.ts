import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApache } from '../../test/repositories/apache.ts'
import { marked, opened, put, write } from '../../test/repositories/kit.ts'
import { spyOn } from '../../test/repositories/spy.ts'
import { testTransport } from './repository.suite.ts'

testTransport('git by http://, with a password', () => startApache('git'))

test('a wrong password, or none, is refused', async () => {
  await using ground = await startApache('git')
  const plain = await ground.create()
  const { type, url } = plain.options
  const refused = { code: 'authentication_failed', isRetryable: false }
  const stranger = await opened({ ...plain, options: { type, url } })
  await expect(stranger.youngest()).rejects.toMatchObject(refused)
  const liar = await opened(plain, { credentials: { username: 'alice', password: 'guessed' } })
  await expect(liar.youngest()).rejects.toMatchObject(refused)
})

test('the password is in no argument and in no file', async () => {
  await using ground = await startApache('git')
  const plain = await ground.create()
  const spy = await spyOn(['git'])
  const { password = '' } = plain.options.credentials ?? {}
  const repository = await opened(plain, { environment: spy.environment, cacheDir: spy.cacheDir })
  const revision = await repository.commitChanges({ ...marked('m'), changes: [put('a')] })
  await using _ = await repository.workspace({ revision })
  const basic = Buffer.from(`alice:${password}`).toString('base64')
  expect(await spy.arguments()).toContain(' push ')
  for (const secret of [password, basic]) {
    expect(await spy.arguments()).not.toContain(secret)
    expect(await spy.filesWith(secret)).toEqual([])
  }
})

test('a repository on the disk may belong to another user', async () => {
  await using ground = await startApache('git')
  const plain = await ground.create()
  await plain.commit((folder) => write(join(folder, 'a')), 'one')
  const repository = await opened(plain, { url: plain.path })
  expect((await repository.youngest()).number).toBe(1)
  expect((await repository.commitChanges({ ...marked('m'), changes: [put('b')] })).number).toBe(2)
})
