import { useEffect, useState } from 'react'
import type { Box, LaidOut, Line } from './lay-out.ts'

type Answer = { readonly id: number; readonly laidOut?: LaidOut; readonly message?: string }

export type Layout =
  | { readonly is: 'pending' }
  | { readonly is: 'done'; readonly laidOut: LaidOut }
  | { readonly is: 'failed'; readonly message: string }

let worker: Worker | undefined
let last = 0
const waiting = new Map<number, (answer: Answer) => void>()

function answerAll(message: string): void {
  for (const [id, answer] of waiting) answer({ id, message })
  waiting.clear()
}

/** One for all graphs; begun when the first is shown, so that the library is loaded only then. */
function theWorker(): Worker {
  if (worker !== undefined) return worker
  worker = new Worker(new URL('./lay-out-worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data)
    waiting.delete(data.id)
  }
  worker.onerror = () => {
    worker = undefined
    answerAll('The graph could not be laid out. The list says the same.')
  }
  return worker
}

function ask(boxes: readonly Box[], lines: readonly Line[], onAnswer: (answer: Answer) => void): () => void {
  last += 1
  const id = last
  waiting.set(id, onAnswer)
  theWorker().postMessage({ id, boxes, lines })
  return () => void waiting.delete(id)
}

/** Where boxes and lines go. Asked again only when there are others: states change nothing. */
export function useLayout(boxes: readonly Box[], lines: readonly Line[]): Layout {
  const [layout, setLayout] = useState<Layout>({ is: 'pending' })
  const asked = JSON.stringify([boxes, lines])
  useEffect(() => {
    const [theBoxes, theLines] = JSON.parse(asked) as [Box[], Line[]]
    return ask(theBoxes, theLines, ({ laidOut, message = '' }) =>
      setLayout(laidOut === undefined ? { is: 'failed', message } : { is: 'done', laidOut }),
    )
  }, [asked])
  return layout
}
