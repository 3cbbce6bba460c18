import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { createOutputWriter, type FollowOptions, followOutput } from './index.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await database()
})
afterAll(() => db[Symbol.asyncDispose]())

let tasks = 0
function anOutput() {
  tasks += 1
  const of = { task: String(tasks), attempt: 1 }
  const writer = createOutputWriter({ pool: db.pool, ...of })
  const say = async (text: string, stream: 'stdout' | 'stderr' = 'stdout') => {
    await writer.write(stream, Buffer.from(text))
    await writer.flush()
  }
  return { of, writer, say }
}

/** Follows in pieces; `next` answers the text of the next one, or undefined in the end. */
function follow(options: FollowOptions) {
  const pieces = followOutput(db.pool, options)
  return {
    next: async () => (await pieces.next()).value?.bytes.toString(),
    return: () => pieces.return(),
  }
}

test('an output is followed while it grows, until its attempt has ended', async () => {
  const { of, writer, say } = anOutput()
  let hasEnded = false
  const followed = follow({ ...of, hasEnded: () => hasEnded, pollMs: 5 })
  await say('one\n')
  expect(await followed.next()).toBe('one\n')
  const next = followed.next()
  await say('two\n')
  expect(await next).toBe('two\n')
  const last = followed.next()
  await writer.write('stdout', Buffer.from('three\n'))
  await writer.close()
  hasEnded = true
  expect(await last).toBe('three\n')
  expect(await followed.next()).toBeUndefined()
})

test('what is there is answered although the attempt has ended, in pieces of the wanted size', async () => {
  const { of, writer, say } = anOutput()
  await say('abcdefg')
  await say('E', 'stderr')
  await writer.close()
  const followed = follow({ ...of, hasEnded: () => true, limit: 3, start: 1, stream: 'stdout' })
  expect([await followed.next(), await followed.next(), await followed.next()]).toEqual(['bcd', 'efg', undefined])
})

test('a nudge makes it look at once', async () => {
  const { of, say } = anOutput()
  let nudge = () => {}
  let isRegistered = false
  const followed = follow({
    ...of,
    hasEnded: () => false,
    pollMs: 3_600_000,
    onNudge(wake) {
      nudge = wake
      isRegistered = true
      return () => {
        isRegistered = false
      }
    },
  })
  const next = followed.next()
  await say('hello')
  nudge()
  expect(await next).toBe('hello')
  const none = followed.next()
  nudge()
  await say('again')
  nudge()
  expect(await none).toBe('again')
  await followed.return()
  expect(isRegistered).toBe(false)
})

test('an abort ends it while it waits', async () => {
  const { of } = anOutput()
  const given = new AbortController()
  const followed = follow({ ...of, hasEnded: () => false, pollMs: 3_600_000, signal: given.signal })
  const next = followed.next()
  given.abort()
  expect(await next).toBeUndefined()
})

test('an error that is not of the connection ends it', async () => {
  const followed = follow({ task: 'no number', attempt: 1, hasEnded: () => false })
  await expect(followed.next()).rejects.toMatchObject({ code: '22P02' })
})
