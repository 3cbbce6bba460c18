import { actionCommand } from '../act.ts'

/** Skips tasks that have not started, and what needs their success. */
export const skip = actionCommand({
  verb: 'skip',
  past: 'skipped',
  isDestructive: true,
  next: '',
  examples: [
    'millrace skip 118 --yes',
    "millrace skip --filter 'state:held kind:archive.step' --cause 'no longer needed' --yes",
  ],
})
