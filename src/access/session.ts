import { hashOf, randomSecret } from './secret.ts'

const VALID_MS = 7 * 24 * 3_600_000
const MAX_COUNT = 1_000

export type Sessions = {
  /** Opens a session and answers its secret, for the browser's cookie. */
  open(now?: number): string
  isOpen(secret: string, now?: number): boolean
}

/** Sessions of signed-in browsers, kept in memory: a restart signs everybody out. */
export function createSessions(): Sessions {
  const validUntil = new Map<string, number>()
  const keyOf = (secret: string) => hashOf(secret).toString('base64url')
  return {
    open(now = Date.now()) {
      for (const [key, until] of validUntil) if (until <= now) validUntil.delete(key)
      const oldest = validUntil.keys().next().value
      if (validUntil.size >= MAX_COUNT && oldest !== undefined) validUntil.delete(oldest)
      const secret = randomSecret()
      validUntil.set(keyOf(secret), now + VALID_MS)
      return secret
    },
    isOpen: (secret, now = Date.now()) => (validUntil.get(keyOf(secret)) ?? 0) > now,
  }
}
