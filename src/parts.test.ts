import { expect, test } from 'vitest'
import { Parts } from './parts.ts'

test('parts stop in the reverse order, and one that throws does not keep the others running', async () => {
  const seen: string[] = []
  const parts = new Parts((name, error) => seen.push(`${name}: ${(error as Error).message}`), 60_000)
  for (const name of ['database', 'dispatcher', 'http']) {
    parts.add(name, async () => {
      if (name === 'dispatcher') throw new Error('stuck')
      seen.push(name)
    })
  }
  await parts.stop()
  await parts.stop()
  expect(seen).toEqual(['http', 'dispatcher: stuck', 'database'])
})

test('a part that does not stop is left behind, and the others are stopped', async () => {
  const seen: string[] = []
  const parts = new Parts((name, error) => seen.push(`${name}: ${(error as Error).message}`), 0)
  parts.add('database', async () => void seen.push('database'))
  parts.add('dispatcher', () => new Promise(() => {}))
  await parts.stop()
  expect(seen).toEqual(['dispatcher: it did not stop within 5 s and is left behind', 'database'])
})
