import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batched } from './batched.ts'

test('what comes while a round is under way goes out together', async () => {
  const rounds: number[][] = []
  const double = batched(
    async (items: number[]) => {
      rounds.push(items)
      await new Promise(setImmediate)
      return items.map((item) => item * 2)
    },
    { most: 4 },
  )
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((item) => double(item)))
  expect(results).toEqual([2, 4, 6, 8, 10, 12])
  expect(rounds).toEqual([[1], [2, 3, 4, 5], [6]])
})

test('a round that fails fails for those in it and for no other', async () => {
  const send = batched(async (items: string[]) => {
    await new Promise(setImmediate)
    if (items.includes('bad')) throw new Error('refused')
    return items
  })
  const good = send('good')
  const bad = send('bad')
  const alsoBad = send('with it')
  await expect(good).resolves.toBe('good')
  await expect(bad).rejects.toThrow('refused')
  await expect(alsoBad).rejects.toThrow('refused')
  await expect(send('later')).resolves.toBe('later')
})

test('a round that hangs holds up only its own items, and a limited number hang at once', async () => {
  const hanging: (() => void)[] = []
  const send = batched(
    async (items: string[]) => {
      if (items[0]?.startsWith('hangs')) await new Promise<void>((resolve) => hanging.push(resolve))
      return items
    },
    { slowMs: 5, atOnce: 2 },
  )
  const first = send('hangs')
  await expect(send('passes')).resolves.toBe('passes')
  const second = send('hangs too')
  const late = send('waits')
  await expect(Promise.race([late, sleep(50, 'still waits')])).resolves.toBe('still waits')
  hanging[0]?.()
  await expect(first).resolves.toBe('hangs')
  await expect(late).resolves.toBe('waits')
  hanging[1]?.()
  await expect(second).resolves.toBe('hangs too')
})
