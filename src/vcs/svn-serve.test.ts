import { expect, test } from 'vitest'
import { marked, opened, put } from '../../test/repositories/kit.ts'
import { spyOn } from '../../test/repositories/spy.ts'
import { svnServe } from '../../test/repositories/svn.ts'
import { testTransport } from './repository.suite.ts'

testTransport('svn by svn://, with a password', svnServe)

test('a wrong password, or none, is refused where one is needed', async () => {
  await using ground = await svnServe()
  const plain = await ground.create()
  const { type, url } = plain.options
  const stranger = await opened({ ...plain, options: { type, url } })
  expect((await stranger.youngest()).number).toBe(0)
  const commit = stranger.commitChanges({ ...marked('m'), changes: [put('a')] })
  await expect(commit).rejects.toMatchObject({ code: 'authentication_failed', isRetryable: false })
  const liar = await opened(plain, { credentials: { username: 'alice', password: 'guessed' } })
  const attempt = liar.commitChanges({ ...marked('m'), changes: [put('a')] })
  await expect(attempt).rejects.toMatchObject({ code: 'authentication_failed' })
})

test('the password is in no argument and in no file', async () => {
  await using ground = await svnServe()
  const plain = await ground.create()
  const spy = await spyOn(['svn', 'svnmucc'])
  const repository = await opened(plain, { environment: spy.environment, cacheDir: spy.cacheDir })
  const revision = await repository.commitChanges({ ...marked('m'), changes: [put('a')] })
  await using _ = await repository.workspace({ revision })
  expect(await spy.arguments()).toContain('svnmucc --non-interactive')
  expect(await spy.arguments()).not.toContain('secret')
  expect(await spy.filesWith('secret')).toEqual([])
})
