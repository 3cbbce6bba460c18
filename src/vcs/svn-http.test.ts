import { expect, test } from 'vitest'
import { startApache } from '../../test/repositories/apache.ts'
import { marked, opened, put } from '../../test/repositories/kit.ts'
import { spyOn } from '../../test/repositories/spy.ts'
import { testTransport } from './repository.suite.ts'

testTransport('svn by http://, with a password', () => startApache('svn'))

test('a wrong password, or none, is refused', async () => {
  await using ground = await startApache('svn')
  const plain = await ground.create()
  const { type, url } = plain.options
  const refused = { code: 'authentication_failed', isRetryable: false }
  const stranger = await opened({ ...plain, options: { type, url } })
  await expect(stranger.youngest()).rejects.toMatchObject(refused)
  const liar = await opened(plain, { credentials: { username: 'alice', password: 'guessed' } })
  await expect(liar.youngest()).rejects.toMatchObject(refused)
})

test('the password is in no argument and in no file', async () => {
  await using ground = await startApache('svn')
  const plain = await ground.create()
  const spy = await spyOn(['svn', 'svnmucc'])
  const repository = await opened(plain, { environment: spy.environment, cacheDir: spy.cacheDir })
  const revision = await repository.commitChanges({ ...marked('m'), changes: [put('a')] })
  await using _ = await repository.workspace({ revision })
  expect(await spy.arguments()).toContain('svnmucc --non-interactive')
  expect(await spy.arguments()).not.toContain('secret')
  expect(await spy.filesWith('secret')).toEqual([])
})
