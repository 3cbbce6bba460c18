import { actionCommand } from '../act.ts'

/** Lets held tasks go on. */
export const release = actionCommand({
  verb: 'release',
  past: 'released',
  isDestructive: false,
  next: 'watch with `millrace watch ID`',
  examples: ['millrace release 118', 'millrace release --filter state:held --yes'],
})
