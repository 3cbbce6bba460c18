import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { readExactly, shareExactly, textOf } from './exact-json.ts'

/** What a query keeps after each of these answers. */
async function afterEach(...answers: readonly string[]): Promise<readonly object[]> {
  const queries = new QueryClient()
  const kept: object[] = []
  for (const text of answers) {
    const queryFn = () => readExactly(text) as object
    await queries.fetchQuery({ queryKey: ['one'], queryFn, structuralSharing: shareExactly })
    kept.push(queries.getQueryData(['one']) ?? {})
  }
  queries.clear()
  return kept
}

test('an answer that came again keeps its text', async () => {
  const [first, second] = ['ready', 'running'].map(
    (state) => `{"state":"${state}","payload":{"n":12345678901234567890}}`,
  )
  const kept = await afterEach(first ?? '', second ?? '')
  expect(kept.map(textOf)).toEqual([first, second])
  expect((kept[1] as { payload: object }).payload).toBe((kept[0] as { payload: object }).payload)
})

test('the same answer stays the same object', async () => {
  const [first, second] = await afterEach('{"n":1}', '{"n":1}')
  expect(second).toBe(first)
})

test('numbers that differ only as they are written are another answer', async () => {
  const texts = ['{"n":12345678901234567890}', '{"n":12345678901234567891}']
  const kept = await afterEach(...texts)
  expect(kept.map(textOf)).toEqual(texts)
  expect(kept[1]).not.toBe(kept[0])
})

test('what was made here is written from what it is', async () => {
  expect(textOf(shareExactly({ n: 1 }, { n: 2 }) as object)).toBe('{"n":2}')
})
