// A few lines of the terminal that change in place. Only lines that differ are written, between the marks with which a
// terminal shows all of them at once: nothing flickers, and the last frame stays in the scrollback.
import type { Sink } from '../world.ts'
import { truncate, widthOf } from './text.ts'

const ESC = '\u001b['
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`
const BEGIN_UPDATE = `${ESC}?2026h`
const END_UPDATE = `${ESC}?2026l`
const ERASE_LINE_END = `${ESC}K`
const ERASE_BELOW = `${ESC}J`

export type Frame = {
  /** Shows these lines instead of those before. */
  draw(lines: readonly string[]): void
  /** Leaves the last frame where it is, and the cursor below it. */
  end(): void
}

/** Takes the place where the cursor is. What does not fit on the screen is left out at the end, which the last line says. */
export function createFrame(sink: Sink): Frame {
  let shown: readonly string[] = []
  let shownWidth = 0
  let isOpen = false
  const draw = (wanted: readonly string[]) => {
    const width = sink.columns ?? 80
    // A line that wraps would be two, and all below it in the wrong place.
    const lines = cut(wanted, sink.rows ?? 24).map((line) => truncate(line, width))
    const isSameWidth = width === shownWidth
    if (isOpen && isSameWidth && lines.length === shown.length && lines.every((line, at) => line === shown[at])) return
    let text = isOpen ? BEGIN_UPDATE : HIDE_CURSOR + BEGIN_UPDATE
    // After a change of the width the terminal has wrapped the old lines in its own way: count them as it did.
    const above = isSameWidth ? shown.length : shown.reduce((sum, line) => sum + rowsOf(line, width), 0)
    if (above > 0) text += `${ESC}${above}A\r`
    for (const [at, line] of lines.entries()) {
      text += isSameWidth && at < shown.length && line === shown[at] ? '\n' : `${line}${ERASE_LINE_END}\n`
    }
    text += ERASE_BELOW + END_UPDATE
    sink.write(text)
    shown = lines
    shownWidth = width
    isOpen = true
  }
  return {
    draw,
    end() {
      if (isOpen) sink.write(SHOW_CURSOR)
      isOpen = false
    },
  }
}

const rowsOf = (line: string, width: number) => Math.max(1, Math.ceil(widthOf(line) / Math.max(1, width)))

/** A frame higher than the screen could not be drawn over: its upper lines would have left the screen. */
function cut(lines: readonly string[], rows: number): readonly string[] {
  const most = Math.max(1, rows - 1)
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`]
}
