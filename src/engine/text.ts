import { InvalidOption } from './errors.ts'

// Two of them share an index entry, which holds at most 2,704 bytes.
const LONGEST_NAME = 1000

/** Refuses a name that the database cannot keep or find again. */
export function checkName(what: string, value: string | undefined): void {
  checkText(what, value)
  if (value !== undefined && Buffer.byteLength(value) > LONGEST_NAME)
    throw new InvalidOption(`${what} is longer than ${LONGEST_NAME} bytes: ${value.slice(0, 40)}…`)
}

/** Refuses text that the database cannot keep. */
export function checkText(what: string, value: string | undefined): void {
  if (value?.includes('\u0000')) throw new InvalidOption(`${what} contains a NUL character`)
}
