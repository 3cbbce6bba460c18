// Output of a node that may still grow, read by pieces. Only the end of it is kept: what was written before is behind a
// link, however much it is.
export type Piece = {
  readonly data: unknown
  readonly pagination?: { readonly next: string; readonly pid: string } | undefined
}
export type AskPiece = (query: { start?: string; pid?: string; limit: number }, signal: AbortSignal) => Promise<Piece>

export type OutputView = {
  readonly text: string
  /** What was before is left out here. */
  readonly isCut: boolean
  readonly state: 'loading' | 'growing' | 'over'
}

export type OutputOptions = {
  readonly ask: AskPiece
  /** How many bytes there are now: where the output is long, reading begins near its end. */
  readonly size: (signal: AbortSignal) => Promise<number>
  readonly onView: (view: OutputView) => void
  readonly signal: AbortSignal
}

const PIECE = 65_536
export const MOST_KEPT = 4 * PIECE
const ASK_AGAIN_MS = 700

/** Reads until the output is over or the signal comes. Throws what asking throws. */
export async function readOutput({ ask, size, onView, signal }: OutputOptions): Promise<void> {
  let piece = await ask({ limit: PIECE }, signal)
  let view: OutputView = { text: String(piece.data), isCut: false, state: 'growing' }
  const total = piece.pagination === undefined ? 0 : await size(signal)
  if (piece.pagination !== undefined && total > MOST_KEPT) {
    const start = String(total - 2 * PIECE)
    piece = await ask({ start, pid: piece.pagination.pid, limit: PIECE }, signal)
    // It may begin within a character or a line.
    view = { text: String(piece.data).replace(/^[^\n]*\n/, ''), isCut: true, state: 'growing' }
  }
  while (piece.pagination !== undefined) {
    onView(view)
    const { next: start, pid } = piece.pagination
    piece = await ask({ start, pid, limit: PIECE }, signal)
    const more = String(piece.data)
    if (more === '' && piece.pagination !== undefined) await pause(ASK_AGAIN_MS, signal)
    if (more !== '') view = keepEnd({ ...view, text: view.text + more })
  }
  onView({ ...view, state: 'over' })
}

function keepEnd(view: OutputView): OutputView {
  if (view.text.length <= MOST_KEPT) return view
  const end = view.text.slice(-MOST_KEPT * 0.75)
  return { ...view, text: end.slice(end.indexOf('\n') + 1), isCut: true }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
