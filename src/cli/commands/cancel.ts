import { actionCommand } from '../act.ts'

/** Ends tasks, at once or by stopping what runs. */
export const cancel = actionCommand({
  verb: 'cancel',
  past: 'canceled',
  isDestructive: true,
  next: '',
  examples: [
    "millrace cancel 118 --cause 'the wrong branch'",
    "millrace cancel --filter 'state:waiting scope:archive:My-Project' --dry-run",
  ],
})
