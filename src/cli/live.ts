import type { Context } from './context.ts'
import { createFrame } from './render/frame.ts'
import { prepareWidths } from './render/text.ts'
import { Interrupted, Left } from './world.ts'

export type Live = {
  readonly draw: (lines: readonly string[]) => Promise<void>
  /** Aborts when the person wants it to end. */
  readonly signal: AbortSignal
}

/**
 * Gives `show` a part of the terminal that changes in place. Keys are not echoed into it; `q` and Ctrl-C end it. Whatever
 * happens, the terminal is as before afterwards.
 */
export async function live<T>(context: Context, show: (live: Live) => Promise<T>): Promise<T> {
  const { stdin, stdout } = context.world
  const frame = createFrame(stdout)
  let drawn: readonly string[] = []
  const draw = async (lines: readonly string[]) => {
    await prepareWidths(lines)
    drawn = lines
    frame.draw(lines)
  }
  const redraw = () => frame.draw(drawn)
  const hear = (chunk: Uint8Array | string) => {
    // In this mode Ctrl-C is a character like any other.
    if (String(chunk).includes('\u0003')) context.interrupt(new Interrupted('SIGINT'))
    else if (String(chunk).includes('q')) context.interrupt(new Left('left with q'))
  }
  const isRaw = stdin.isTTY === true && stdin.setRawMode !== undefined
  if (isRaw) {
    stdin.setRawMode?.(true)
    stdin.on('data', hear)
    stdin.resume()
  }
  stdout.on('resize', redraw)
  try {
    return await show({ draw, signal: context.signal })
  } finally {
    stdout.off('resize', redraw)
    if (isRaw) {
      stdin.off('data', hear)
      stdin.pause()
      stdin.setRawMode?.(false)
    }
    frame.end()
  }
}
