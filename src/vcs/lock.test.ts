import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../../test/program.ts'
import { scratch } from '../../test/scratch.ts'
import { lock, tryLock } from './lock.ts'

test('a lock has one holder at a time', async () => {
  const { path } = await scratch()
  const file = join(path, 'lock')
  const takers = await Promise.all(Array.from({ length: 20 }, () => tryLock(file)))
  const held = takers.filter((taker) => taker !== undefined)
  expect(held).toHaveLength(1)
  expect(held[0]?.wasAbandoned).toBe(false)
  const waiting = lock(file)
  await held[0]?.release()
  await (await waiting).release()
  expect(await readdir(path)).toEqual([])
})

test('the lock of a killed process goes to exactly one of those who want it', async () => {
  const { path } = await scratch()
  const file = join(path, 'lock')
  await using holder = runProgram('test/repositories/holder.ts', { args: ['lock', file] })
  await holder.line(/^held$/)
  expect(await tryLock(file)).toBeUndefined()
  holder.child.kill('SIGKILL')
  await holder.exitCode
  for (let round = 0; round < 5; round++) {
    const takers = await Promise.all(Array.from({ length: 20 }, () => tryLock(file)))
    const held = takers.filter((taker) => taker !== undefined)
    expect(held).toHaveLength(1)
    expect(held[0]?.wasAbandoned).toBe(round === 0)
    await held[0]?.release()
  }
  expect(await readdir(path)).toEqual([])
})

test('a holder whose process cannot be seen lives as long as it touches its lock', async () => {
  const { path } = await scratch()
  const file = join(path, 'lock')
  await writeFile(file, JSON.stringify({ pid: 1, startedAt: '1', world: 'another container', nonce: 'some nonce' }))
  expect(await tryLock(file)).toBeUndefined()
  const longAgo = new Date(Date.now() - 600_000)
  await utimes(file, longAgo, longAgo)
  const taken = await tryLock(file)
  expect(taken?.wasAbandoned).toBe(true)
  await taken?.release()
})

test('waiting for a lock ends with the signal', async () => {
  const { path } = await scratch()
  const file = join(path, 'lock')
  const held = await tryLock(file)
  const abort = new AbortController()
  const waiting = lock(file, abort.signal)
  const reason = new Error('enough')
  abort.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await held?.release()
})
