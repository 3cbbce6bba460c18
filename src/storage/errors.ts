/** A pattern that cannot be understood. */
export class InvalidPattern extends Error {
  readonly code = 'invalid_pattern'
  readonly remedy =
    'write it as RE2 does: no look-around and no back references; or search for plain text without regex=1'
  constructor(pattern: string, reason: string) {
    super(`the pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be searched for: ${reason}`)
  }
}
