import type { Context } from './context.ts'
import { duration } from './render/time.ts'

export type WaitingLine = {
  /** Says what is waited for, and for how long already. */
  say(what: string): void
  /** Makes room for what is printed. */
  clear(): void
}

/** One line on the terminal while something is waited for; nothing where nobody looks. */
export function createWaitingLine({ world: { stderr }, output }: Context): WaitingLine {
  const begun = Date.now()
  const isShown = stderr.isTTY === true && output.format === 'text'
  let isThere = false
  return {
    say(what) {
      if (!isShown) return
      stderr.write(`\rwaiting for ${what}, ${duration(Date.now() - begun)}\u001b[K`)
      isThere = true
    },
    clear() {
      if (isThere) stderr.write('\r\u001b[K')
      isThere = false
    },
  }
}
