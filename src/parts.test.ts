import { expect, test } from 'vitest'
import { Parts } from './parts.ts'

test('parts stop in the reverse order, and one that throws does not keep the others running', async () => {
  const seen: string[] = []
  const parts = new Parts((name, error) => seen.push(`${name}: ${(error as Error).message}`))
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
