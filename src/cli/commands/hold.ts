import { actionCommand } from '../act.ts'

/** Keeps tasks that have not started from starting. */
export const hold = actionCommand({
  verb: 'hold',
  past: 'held',
  isDestructive: false,
  next: 'let it go on with `millrace release ID`',
  examples: ['millrace hold 118 119', "millrace hold --filter 'scope:archive:My-Project state:ready' --yes"],
})
