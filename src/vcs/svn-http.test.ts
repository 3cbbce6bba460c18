import { expect, test } from 'vitest'
import { startApache } from '../../test/repositories/apache.ts'
import { opened } from '../../test/repositories/kit.ts'
import { testRepository } from './repository.suite.ts'

testRepository('svn by http://, with a password', () => startApache('svn'))

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
