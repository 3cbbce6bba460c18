import { expect, test } from 'vitest'
import { type AskPiece, MOST_KEPT, type OutputView, readOutput } from './read-output.ts'

/** An output of this text, of which the writer has written more at every look. */
function anOutput(text: string, steps: readonly number[] = [text.length]) {
  const looks = [...steps]
  let asked = 0
  let written = looks.shift() ?? text.length
  const ask: AskPiece = async ({ start = '0', limit }) => {
    asked += 1
    const from = Number(start)
    const data = text.slice(from, Math.min(written, from + limit))
    const next = from + data.length
    const isOver = next >= text.length
    if (next >= written) written = looks.shift() ?? text.length
    return { data, ...(isOver ? {} : { pagination: { next: String(next), pid: 'p' } }) }
  }
  return { ask, size: async () => written, asked: () => asked }
}

async function read(output: ReturnType<typeof anOutput>): Promise<OutputView[]> {
  const views: OutputView[] = []
  await readOutput({ ...output, onView: (view) => views.push(view), signal: new AbortController().signal })
  return views
}

test('a short output is there as a whole and over', async () => {
  expect(await read(anOutput('one\ntwo\n'))).toEqual([{ text: 'one\ntwo\n', isCut: false, state: 'over' }])
})

test('what is written meanwhile is added', async () => {
  const views = await read(anOutput('one\ntwo\nthree\n', [4, 8, 14]))
  expect(views.map(({ text }) => text)).toEqual(['one\n', 'one\ntwo\n', 'one\ntwo\nthree\n'])
  expect(views.at(-1)?.state).toBe('over')
})

test('of a long output the end is read, by few requests and with bounded memory', async () => {
  const text = `${'x'.repeat(99)}\n`.repeat(600_000)
  const output = anOutput(text)
  const views = await read(output)
  const last = views.at(-1)
  expect(last?.isCut).toBe(true)
  expect(text.endsWith(last?.text ?? '?')).toBe(true)
  expect(output.asked()).toBeLessThan(8)
  expect(Math.max(...views.map((view) => view.text.length))).toBeLessThanOrEqual(MOST_KEPT)
})

test('what grows for long is cut at the front, between lines', async () => {
  const text = `${'x'.repeat(99)}\n`.repeat(6_000)
  const steps = Array.from({ length: 20 }, (_, i) => (i + 1) * 30_000)
  const views = await read(anOutput(text, steps))
  expect(Math.max(...views.map((view) => view.text.length))).toBeLessThanOrEqual(MOST_KEPT)
  expect(views.at(-1)?.text.split('\n')[0]).toHaveLength(99)
})
