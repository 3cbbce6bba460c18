import { actionCommand } from '../act.ts'

/** Asks again for what failed, was canceled or skipped. */
export const retry = actionCommand({
  verb: 'retry',
  past: 'retried',
  isDestructive: false,
  next: 'watch with `millrace watch ID`',
  examples: ['millrace retry 118', "millrace retry --filter 'state:failed kind:archive.step' --yes"],
})
