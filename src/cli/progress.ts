import type { Context } from './context.ts'

export type Progress = { readonly done: number; step(label: string): void; end(): void }

const WORTH_SHOWING = 10

/** Says on the terminal how far long work has come, in one line that goes away in the end. */
export function createProgress({ world: { stderr } }: Context, total: number): Progress {
  let done = 0
  const isShown = stderr.isTTY === true && total >= WORTH_SHOWING
  return {
    get done() {
      return done
    },
    step(label) {
      done += 1
      if (isShown) stderr.write(`\r${label}: ${done} of ${total}\u001b[K`)
    },
    end() {
      if (isShown && done > 0) stderr.write('\r\u001b[K')
    },
  }
}
