import { InvalidArgumentError, Option } from 'commander'
import { actionCommand } from '../act.ts'

function wholeNumber(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError('expected a whole number; lower comes first')
  return Number(text)
}

/** Gives tasks that have not started another priority. */
export const priority = actionCommand({
  verb: 'prioritize',
  past: 'prioritized',
  isDestructive: false,
  next: 'see what is in the way with `millrace why ID`',
  examples: [
    'millrace priority 118 --to -10',
    "millrace priority --filter 'scope:archive:My-Project' --to 5 --dry-run",
  ],
  needs: {
    usage: '--to NUMBER',
    option: new Option('--to <number>', 'the priority; lower comes first, 0 is usual')
      .argParser(wholeNumber)
      .makeOptionMandatory(),
    body: ({ to }) => ({ priority: to }),
  },
})
