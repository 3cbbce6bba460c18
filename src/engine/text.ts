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

/** Refuses what cannot name a kind or a queue: both stand in lists, messages and search queries. */
export function checkPlainName(what: string, value: unknown): void {
  if (typeof value !== 'string') throw new InvalidOption(`${what} must be text, not ${typeof value}`)
  if (value === '') throw new InvalidOption(`${what} is empty`)
  checkName(what, value)
  if (/\p{Cc}/u.test(value)) throw new InvalidOption(`${what} contains a control character: ${JSON.stringify(value)}`)
}
