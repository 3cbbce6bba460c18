/** Whether the tests run in their long form: `npm run test:long`. */
const isLong = process.env['MILLRACE_TEST_LONG'] === '1'

/** Chooses between the short form of a test, for every run, and its long one. */
export const inForm = <T>(short: T, long: T): T => (isLong ? long : short)
