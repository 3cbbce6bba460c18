import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { anApp } from '../../test/app.ts'
import { deferred } from '../../test/engine.ts'
import { route } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import { type Hint, waitUntil } from './wait.ts'

const watch = route({
  method: 'GET',
  path: '/v1/watched',
  name: 'watched.get',
  summary: 'Test',
  access: { role: 'viewer' },
  answers: { 200: z.object({ value: z.int() }) },
})

/** A thing that is watched, and whose changes may be told. */
async function aWatchedThing(options: { isTold?: boolean } = {}) {
  const state = { value: 0, looks: 0, told: new Set<() => void>(), onLook: () => {} }
  const hint: Hint = (signal) =>
    new Promise<void>((resolve) => {
      state.told.add(resolve)
      signal.addEventListener('abort', () => state.told.delete(resolve))
    })
  const app = await anApp({
    resources: [
      (server) =>
        addRoute(server, watch, ({ wait }) =>
          wait(
            async () => {
              state.looks += 1
              state.onLook()
              return { value: state.value }
            },
            ({ value }) => value > 0,
            options.isTold === false ? {} : { hint },
          ),
        ),
    ],
  })
  const looked = () => new Promise<void>((resolve) => Object.assign(state, { onLook: resolve }))
  return { app, state, looked, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}
const patiently = (seconds: number, more: object = {}) => ({ headers: { prefer: `wait=${seconds}` }, ...more })

test('without patience the answer is what there is', async () => {
  await using thing = await aWatchedThing()
  const { json, headers } = await thing.app.ask('GET', '/v1/watched')
  expect(json).toEqual({ value: 0 })
  expect(headers.get('preference-applied')).toBeNull()
})

test('a change answers those who wait at once', async () => {
  await using thing = await aWatchedThing()
  const isLooking = thing.looked()
  const asked = thing.app.ask('GET', '/v1/watched', patiently(60))
  await isLooking
  thing.state.value = 5
  for (const tell of thing.state.told) tell()
  const { json, headers } = await asked
  expect(json).toEqual({ value: 5 })
  expect(headers.get('preference-applied')).toBe('wait=60')
  expect(thing.state.looks).toBe(2)
})

test('a change that nobody tells of is found all the same', async () => {
  await using thing = await aWatchedThing({ isTold: false })
  const isLooking = thing.looked()
  const asked = thing.app.ask('GET', '/v1/watched', patiently(60))
  await isLooking
  thing.state.value = 5
  expect((await asked).json).toEqual({ value: 5 })
})

test('when the time is over the answer is what there is', async () => {
  await using thing = await aWatchedThing()
  expect((await thing.app.ask('GET', '/v1/watched', patiently(1))).json).toEqual({ value: 0 })
  expect(thing.state.looks).toBeGreaterThan(1)
  expect(thing.state.told.size).toBe(0)
})

test('a caller that has gone is not waited for', async () => {
  await using thing = await aWatchedThing()
  const caller = new AbortController()
  const isLooking = thing.looked()
  const asked = thing.app.ask('GET', '/v1/watched', patiently(60, { signal: caller.signal }))
  await isLooking
  const looksAgain = thing.looked()
  caller.abort()
  await expect(asked).rejects.toThrow()
  // The last look; after it nothing listens any more.
  await looksAgain
  await expect.poll(() => thing.state.told.size).toBe(0)
})

test('a caller that had gone before the waiting began is not waited for', async () => {
  const [arrived, gone, ready, ended] = [deferred(), deferred(), deferred(), deferred<number>()]
  let looks = 0
  const look = async () => {
    looks += 1
    return { value: 0 }
  }
  await using app = await anApp({
    resources: [
      (server) =>
        addRoute(server, watch, async ({ wait, reply }) => {
          reply.raw.once('close', () => gone.resolve())
          arrived.resolve()
          await ready.promise
          const seen = await wait(look, () => false)
          ended.resolve(looks)
          return seen
        }),
    ],
  })
  const caller = new AbortController()
  const asked = app.ask('GET', '/v1/watched', patiently(60, { signal: caller.signal }))
  asked.catch(() => {})
  await arrived.promise
  caller.abort()
  await gone.promise
  ready.resolve()
  expect(await ended.promise).toBe(1)
})

test('those who wait are answered when the server stops', async () => {
  await using thing = await aWatchedThing()
  const isLooking = thing.looked()
  const asked = thing.app.ask('GET', '/v1/watched', patiently(60))
  await isLooking
  const stopped = thing.app.server.drain(30_000)
  expect((await asked).json).toEqual({ value: 0 })
  await stopped
})

test('patience has a bound, and what is no number of seconds is no patience', async () => {
  await using thing = await aWatchedThing()
  thing.state.value = 1
  const applied = async (prefer: string) =>
    (await thing.app.ask('GET', '/v1/watched', { headers: { prefer } })).headers.get('preference-applied')
  expect(await applied('wait=999999999')).toBe('wait=60')
  expect(await applied('respond-async, wait=10')).toBe('wait=10')
  for (const prefer of ['wait=-1', 'wait=x', 'wait', 'await=10', `wait=${'9'.repeat(400)}`]) {
    expect(await applied(prefer), prefer).toBeNull()
  }
})

test('a hint between looking and waiting is not lost', async () => {
  let value = 0
  const seen = await waitUntil(
    async () => {
      const before = value
      // It changes while it is looked at, and tells of it before anybody waits.
      value = 1
      tell()
      return before
    },
    (now) => now === 1,
    { waitMs: 60_000, signal: new AbortController().signal, hint: () => told },
  )
  expect(seen).toBe(1)
})
let tell = () => {}
const told = new Promise<void>((resolve) => {
  tell = resolve
})

test('a hint that fails leaves the looking to the clock', async () => {
  let looks = 0
  const failing: Hint = async () => {
    await sleep(0)
    throw new Error('the connection broke')
  }
  const look = async () => {
    looks += 1
    return looks
  }
  const options = { waitMs: 60_000, signal: new AbortController().signal, hint: failing }
  expect(await waitUntil(look, (seen) => seen === 2, options)).toBe(2)
})
